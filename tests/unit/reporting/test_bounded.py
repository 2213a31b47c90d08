"""Values on their way into a document: bounded, and without what is hidden by now."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.redaction.project_secrets import HiddenText, ProjectSecrets
from evalgate.measures.redaction.redact import hide, hide_too, redact_value
from evalgate.measures.text.patterns import Pattern
from evalgate.reporting.results.bounded import (
    MOST_NAMES,
    Names,
    bounded_evidence,
    bounded_id,
    bounded_name,
    bounded_text,
)
from evalgate.reporting.results.trial_doc import names

TOKEN = "ghp_" + "a1B2" * 9
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
NAMES = st.text(max_size=9) | st.sampled_from(["password", "api_key", "pass\u200bword", TOKEN])
VALUES = st.recursive(
    LEAVES | st.just(TOKEN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def told_call(name: str) -> str:
    return names([name])[0]


def test_names_are_remembered_in_bounded_number_and_size():
    known = Names()
    assert known["n" * 700] == bounded_name("n" * 700)
    for number in range(2 * MOST_NAMES):
        assert known[f"n{number}"] == f"n{number}"
    assert len(known) == MOST_NAMES
    assert max(map(len, known)) < 100


@pytest.fixture(autouse=True)
def _hidden_as_before():
    yield
    hide([])


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=3))
def test_evidence_is_json_without_secrets_at_once(evidence):
    found = bounded_evidence(evidence)
    assert TOKEN not in json.dumps(found, allow_nan=False)
    assert redact_value(found) == found


def test_evidence_under_a_name_like_password_is_hidden_however_the_name_is_written():
    name = f"{TOKEN} pass\u200bword"
    assert list(bounded_evidence({name: "hunter22"}).values()) == ["[redacted: field]"]


@pytest.mark.parametrize(
    "told",
    [bounded_text, bounded_name, bounded_id, told_call, lambda text: bounded_evidence({"a": text})["a"]],
)
def test_what_is_hidden_later_is_hidden_from_then_on(told):
    assert told("order ABC123 of 2026") == "order ABC123 of 2026"
    hide_too(ProjectSecrets([HiddenText("order", Pattern(r"[A-C]{3}\d{3}"))]))
    assert told("order ABC123 of 2026") == "order [redacted: order] of 2026"
    hide(["ABC123"])
    assert told("order ABC123 of 2026") == "order [redacted: secret] of 2026"


def test_a_time_is_hidden_where_that_is_asked_for():
    assert bounded_name("2026-01-02T03:04:05Z") == "2026-01-02T03:04:05Z"
    hide_too(ProjectSecrets([HiddenText("day", Pattern(r"\d{4}-\d\d-\d\d"))]))
    assert bounded_name("2026-01-02T03:04:05Z") == "[redacted: day]T03:04:05Z"
