from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.settings.inputs import ARTIFACT_NAME, KEY
from evalgate.settings.matrix import parse_matrix

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize("text", ["null", "{}", " null\n"])
def test_a_job_without_a_matrix_has_no_leg(text):
    assert parse_matrix(text) is None


@pytest.mark.parametrize(
    ("values", "slug", "label"),
    [
        ({"suite": "support"}, "support-", "suite: support"),
        ({"suite": "support", "python": 3.12}, "3.12-support-", "suite: support, python: 3.12"),
        ({"suite": "a/b", "on": True}, "true-a-b-", "suite: a/b, on: true"),
        ({"agent": {"name": "x"}}, "name-x-", 'agent: {"name":"x"}'),
        ({"agent": "\u65e5\u672c"}, "", "agent: \u65e5\u672c"),
    ],
)
def test_a_leg_is_named_by_its_values(values, slug, label):
    leg = parse_matrix(json.dumps(values, indent=2))
    assert (leg.slug[:-8], leg.label) == (slug, label)


def test_the_order_of_the_keys_does_not_matter():
    legs = [parse_matrix('{"a": 1, "b": {"c": 1, "d": 2}}'), parse_matrix('{"b": {"d": 2, "c": 1}, "a": 1}')]
    assert legs[0].slug == legs[1].slug


@pytest.mark.parametrize(("one", "other"), [("x/y", "x-y"), ("A", "a"), ("1", 1), ("x" * 60, "x" * 61), (None, "null")])
def test_similar_values_have_different_slugs(one, other):
    assert parse_matrix(json.dumps({"a": one})).slug.lower() != parse_matrix(json.dumps({"a": other})).slug.lower()


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), VALUES, min_size=1, max_size=3))
def test_any_leg_gives_a_bounded_key_and_artifact_name(values):
    leg = parse_matrix(json.dumps(values))
    assert KEY.fullmatch(leg.slug)
    assert ARTIFACT_NAME.fullmatch(leg.slug)
    assert "--" not in leg.slug
    assert len(leg.slug) <= 49
    assert len(leg.label) <= 103


@pytest.mark.parametrize(
    "text", ["[1]", "support", "${{ toJSON(matrix) }}", "[" * 9_999, '{"a":' * 99_999 + "1" + "}" * 99_999]
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="toJSON"):
        parse_matrix(text)
