from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.prices import REQUEST_SIZES, Rates, compute_cost, smallest_request, sum_amounts

RATES = Rates(input=2.0, output=8.0, cache_read=0.5, cache_write=2.5)


def usage(tokens_in, tokens_out=0, read=0, written=0):
    return {
        "model": "m", "provider": None, "request_tokens": 1, "input_tokens": tokens_in,
        "output_tokens": tokens_out, "cache_read_input_tokens": read, "cache_write_input_tokens": written,
    }  # fmt: skip


def test_tokens_cost_their_rate_and_cached_ones_their_own():
    assert compute_cost(RATES, usage(1_000_000)) == 2.0
    assert compute_cost(RATES, usage(1_000_000, 500_000)) == 6.0
    assert compute_cost(RATES, usage(1_000_000, read=600_000, written=200_000)) == 0.4 + 0.3 + 0.5


def test_a_cached_step_of_a_real_bill_costs_the_billed_amount():
    """6,357 in of which 6,272 cached, 57 out, gpt-4.1: billed 0.003762 US dollars."""
    assert round(compute_cost(Rates(2.0, 8.0, 0.5, 2.0), usage(6357, 57, read=6272)), 9) == 0.003762


def test_more_cached_tokens_than_input_are_never_negative():
    assert compute_cost(RATES, usage(10, read=1_000_000)) == 0.5


@given(st.integers(0, 10**7))
def test_requests_of_one_size_lie_between_the_same_thresholds(tokens):
    least = smallest_request(tokens)
    assert least <= max(tokens, 1)
    assert [size for size in REQUEST_SIZES if size < least] == [size for size in REQUEST_SIZES if size < max(tokens, 1)]


@given(st.permutations([0.1, 0.2, 0.3, 1e9, 1e-9]))
def test_a_total_does_not_depend_on_the_order(amounts):
    assert sum_amounts(amounts) == sum_amounts(sorted(amounts))
