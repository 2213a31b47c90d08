import time

from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.trajectory_metrics import find_repeat, json_key
from evalgate.measures.values.json_values import json_equal

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, 1.0, 1.5]), st.sampled_from(["", "1"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


def found_slowly(entries, most):
    """Tries every block at every position."""
    for length in range(1, len(entries) + 1):
        for start in range(len(entries)):
            block, times = entries[start : start + length], 1
            while entries[start + times * length : start + (times + 1) * length] == block:
                times += 1
            if len(block) == length and times > most:
                return (start, length, times)
    return None


@given(st.lists(st.integers(0, 2), max_size=20), st.integers(1, 4))
def test_first_repeat__equals_an_exhaustive_search(entries, most):
    assert find_repeat(entries, most) == found_slowly(entries, most)


@given(st.lists(st.sampled_from([0, 256, 512]), max_size=16), st.integers(1, 3))
def test_first_repeat__does_not_take_entries_that_share_a_byte_for_the_same(entries, most):
    many = [*range(1_000, 1_600), *entries]
    found = found_slowly(entries, most)
    assert find_repeat(many, most) == (found and (found[0] + 600, *found[1:]))


@given(VALUES, VALUES)
def test_hashable__is_the_same_exactly_where_json_is(first, second):
    assert (json_key(first) == json_key(second)) == json_equal(first, second)
    if json_equal(first, second):
        assert hash(json_key(first)) == hash(json_key(second))


def test_first_repeat__of_ten_thousand_entries_does_not_hang():
    nearly = ["a", "a", "a", "b", "a", "a", "b"] * 3 + ["c"]
    entries = [name for number in range(500) for name in [*nearly[: number % 22], str(number)]][:10_000]
    started = time.thread_time()
    assert find_repeat(entries * 2, 4) is None
    assert time.thread_time() - started < 5
