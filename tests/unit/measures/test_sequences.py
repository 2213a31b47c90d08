import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences import align_any_order, align_exact, align_in_order

NAMES = st.lists(st.sampled_from("abc"), max_size=7)


def fits(found, *, extra_allowed=True):
    return not found.missing and (extra_allowed or not found.extra)


@pytest.mark.parametrize(
    ("expected", "called", "exact", "in_order", "any_order"),
    [
        ("ab", "ab", True, True, True),
        ("ab", "axb", False, True, True),
        ("ab", "ba", False, False, True),
        ("aa", "a", False, False, False),
        ("aa", "xaya", False, True, True),
        ("ab", "", False, False, False),
        ("", "", True, True, True),
    ],
)
def test_alignment__three_ways_to_compare(expected, called, exact, in_order, any_order):
    expected, called = list(expected), list(called)
    assert fits(align_exact(expected, called), extra_allowed=False) is exact
    assert fits(align_in_order(expected, called)) is in_order
    assert fits(align_any_order(expected, called)) is any_order


def test_in_order__says_what_is_missing_and_what_stood_between():
    found = align_in_order(["a", "b", "c"], ["a", "x", "c", "y"])
    assert found.pairs == [(0, 0), (2, 2)]
    assert found.missing == [1]
    assert found.extra == [1, 3]


@given(NAMES, NAMES)
def test_alignment__exact_implies_in_order_implies_any_order(expected, called):
    if fits(align_exact(expected, called), extra_allowed=False):
        assert fits(align_in_order(expected, called), extra_allowed=False)
    if fits(align_in_order(expected, called)):
        assert fits(align_any_order(expected, called))


@given(NAMES, NAMES, st.randoms())
def test_any_order__does_not_depend_on_the_order_of_the_list(expected, called, random):
    shuffled = random.sample(expected, len(expected))
    assert fits(align_any_order(expected, called)) == fits(align_any_order(shuffled, called))


@given(NAMES, NAMES)
def test_alignment__accounts_for_every_step_and_call_once(expected, called):
    for align in (align_exact, align_in_order, align_any_order):
        found = align(expected, called)
        assert sorted([step for step, _ in found.pairs] + found.missing) == list(range(len(expected)))
        assert sorted([at for _, at in found.pairs] + found.extra) == list(range(len(called)))
        assert all(expected[step] == called[at] for step, at in found.pairs)
