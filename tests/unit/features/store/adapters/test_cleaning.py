"""Cleaning of values for both databases."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.features.store.adapters.schema.values import (
    MalformedError,
    clean_amount,
    clean_integer,
    clean_text,
    clean_time,
    dump_json,
    load_json,
)

TEXTS = st.text(st.characters() | st.sampled_from(["\0", "\ud800", "\udfff"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(TEXTS)
def test_a_clean_text_is_utf8_without_nul_and_stays_as_it_is(text):
    clean = clean_text(text)

    assert b"\0" not in clean.encode()
    assert clean_text(clean) == clean
    if "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text):
        assert clean == text


@given(VALUES)
def test_any_value_becomes_json_that_both_databases_take(value):
    dumped = dump_json(value)

    read = json.loads(dumped, parse_constant=pytest.fail)
    assert load_json(dumped) == read
    assert load_json(dump_json(read)) == read


@pytest.mark.parametrize(
    ("number", "clean"),
    [
        (0, 0),
        (2**63 - 1, 2**63 - 1),
        (2**63, 2**63 - 1),
        (-(2**63), -(2**63)),
        (-(2**64), -(2**63)),
        (True, 1),
    ],
)
def test_a_whole_number_has_64_bits(number, clean):
    assert clean_integer(number) == clean


@pytest.mark.parametrize(
    ("number", "clean"),
    [
        (1.5, 1.5),
        (3, 3.0),
        (float("nan"), None),
        (float("inf"), None),
        (float("-inf"), None),
        (10**400, None),
    ],
)
def test_an_amount_is_a_finite_number(number, clean):
    assert clean_amount(number) == clean


def test_a_moment_is_stored_in_utc():
    east = datetime(2026, 1, 1, 5, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))

    assert clean_time(east) == datetime(2026, 1, 1, tzinfo=UTC)
    assert clean_time(east).tzinfo is UTC
    assert clean_time(datetime(2026, 1, 1)).tzinfo is UTC  # noqa: DTZ001  one without a zone


@pytest.mark.parametrize("text", ["{", "", "NaN", '"\\ud800"', 5, None])
def test_a_value_that_is_not_json_is_malformed(text):
    with pytest.raises(MalformedError):
        load_json(text)
