import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.sequences.argument_matchers import build_arguments_matcher, build_lookups


def test_lookups__are_the_arguments_a_call_can_be_looked_up_by_texts_with_a_part_last():
    args = {
        "part": {"$regex": "^A-17"},
        "plain": 1,
        "list": [1, {"x": None}],
        "any": {"$any": True},
        "inside": [1, {"$any": True}],
        "in": {"$in": [1, [2]]},
        "no_part": {"$regex": "[ab]"},
        "near": {"$approx": 5},
    }
    assert [lookup.name for lookup in build_lookups(args)] == ["plain", "list", "in", "near", "part"]


def test_lookup_by_plain_values_that_look_like_matchers__does_not_exist():
    assert build_lookups({"a": {"$in": [{"$any": True}]}}) == []
    assert build_lookups({"a": {"$in": [[1, {"x": {"$any": True}}]]}}) == []


@given(
    st.floats(-1e300, 1e300) | st.integers(-(10**20), 10**20),
    st.floats(0, 1e300),
    st.sampled_from([-1, 1]),
    st.floats(0.999_999, 1.000_001),
)
def test_lookup_of_an_approximate_number__leaves_out_nothing_that_matches(centre, tolerance, side, near):
    wanted = {"$approx": centre, "$tol": tolerance}
    (found,) = build_lookups({"x": wanted})
    actual = centre + side * tolerance * near
    fits = build_arguments_matcher({"x": wanted}, "subset")({"x": actual}) is None
    assert not fits or found.low <= actual <= found.high


@pytest.mark.parametrize("centre", [10**400, -(10**400)])
def test_lookup_of_a_number_that_no_float_can_hold__does_not_exist(centre):
    assert build_lookups({"x": {"$approx": centre}}) == []
