from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from evalgate.measures.sequences.differences import excerpt_texts, find_differences
from evalgate.measures.values.json_values import json_equal

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=8,
)


def list_differences(before, now, most=10):
    return [astuple(each) for each in find_differences(before, now, most)[0]]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"id": 1}, {"id": 2}, [("id", "1", "2")]),
        ({"id": 1}, {"id": 1.0}, []),
        ({"id": 1}, {"id": "1"}, [("id", "1", '"1"')]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("a.b[1]", "2", "3")]),
        ({"a": 1}, {"b": 1}, [("a", "1", None), ("b", None, "1")]),
        ([1], [1, None], [("[1]", None, "null")]),
        ([1, 2], [1], [("[1]", "2", None)]),
        ({"odd key": 1}, {"odd key": 2}, [('"odd key"', "1", "2")]),
        ("a", "b", [("", '"a"', '"b"')]),
        ({"x": [1]}, {"x": {"0": 1}}, [("x", "[1]", '{"0":1}')]),
    ],
)
def test_each_place_that_differs_is_named(before, now, expected):
    assert list_differences(before, now) == expected


def test_more_places_than_the_limit_are_counted():
    found, left = find_differences({f"k{n}": n for n in range(30)}, {}, 10)
    assert (len(found), left) == (10, 20)


def test_of_long_texts_the_part_that_differs_is_shown():
    before, now = "x" * 3_000 + "old" + "y" * 500, "x" * 3_000 + "new" + "y" * 500
    ((_, old, new),) = list_differences({"code": before}, {"code": now})
    assert old.startswith('"…' + "x" * 20 + "old")
    assert new.startswith('"…' + "x" * 20 + "new")
    assert max(len(old), len(new)) < 300


def test_short_texts_are_shown_whole():
    assert excerpt_texts("one", "two") == ("one", "two")


def test_a_text_that_only_goes_on_is_shown_from_before_its_end():
    assert excerpt_texts("a" * 300, "a" * 300 + "b", 30) == ("…" + "a" * 20, "…" + "a" * 20 + "b")


def test_values_nested_deeper_than_json_may_be_are_one_difference():
    before, now = 1, 2
    for _ in range(200):
        before, now = [before], [now]
    ((path, old, new),) = list_differences(before, now)
    assert path == "[0]" * 64
    assert old != new or old is not None


@given(values, values)
def test_values_differ_in_no_place_exactly_where_they_are_equal(before, now):
    assert (list_differences(before, now) == []) == json_equal(before, now)


@given(values, values)
def test_swapping_the_sides_swaps_the_values_of_each_place(before, now):
    swapped = {(path, now, before) for path, before, now in list_differences(now, before, 1_000)}
    assert set(list_differences(before, now, 1_000)) == swapped
