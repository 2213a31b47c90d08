"""Values written into a document are bounded and redacted with the current secrets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.redaction.project_secrets import ProjectSecrets, SecretPattern
from evalgate.measures.redaction.redact import add_project_secrets, hide_secrets, redact_value
from evalgate.measures.text.patterns import Pattern
from evalgate.reporting.results.clean_values import (
    MAX_CACHED_NAMES,
    NameCache,
    clean_evidence,
    clean_id,
    clean_name,
    clean_names,
    clean_text,
)

TOKEN = "ghp_" + "a1B2" * 9
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
NAMES = st.text(max_size=9) | st.sampled_from(["password", "api_key", "pass\u200bword", TOKEN])
VALUES = st.recursive(
    LEAVES | st.just(TOKEN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def clean_call_name(name: str) -> str:
    return clean_names([name])[0]


def test_cached_names_are_bounded_in_number_and_size():
    known = NameCache()
    assert known["n" * 700] == clean_name("n" * 700)
    for number in range(2 * MAX_CACHED_NAMES):
        assert known[f"n{number}"] == f"n{number}"
    assert len(known) == MAX_CACHED_NAMES
    assert max(map(len, known)) < 100


@pytest.fixture(autouse=True)
def _hidden_as_before():
    yield
    hide_secrets([])


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=3))
def test_evidence_is_json_without_secrets_at_once(evidence):
    found = clean_evidence(evidence)
    assert TOKEN not in json.dumps(found, allow_nan=False)
    assert redact_value(found) == found


def test_evidence_under_a_name_like_password_is_hidden_however_the_name_is_written():
    name = f"{TOKEN} pass\u200bword"
    assert list(clean_evidence({name: "hunter22"}).values()) == ["[redacted: field]"]


@pytest.mark.parametrize(
    "clean",
    [clean_text, clean_name, clean_id, clean_call_name, lambda text: clean_evidence({"a": text})["a"]],
)
def test_a_secret_added_later_is_redacted_from_then_on(clean):
    assert clean("order ABC123 of 2026") == "order ABC123 of 2026"
    add_project_secrets(ProjectSecrets([SecretPattern("order", Pattern(r"[A-C]{3}\d{3}"))]))
    assert clean("order ABC123 of 2026") == "order [redacted: order] of 2026"
    hide_secrets(["ABC123"])
    assert clean("order ABC123 of 2026") == "order [redacted: secret] of 2026"


def test_a_time_is_redacted_if_a_pattern_matches_it():
    assert clean_name("2026-01-02T03:04:05Z") == "2026-01-02T03:04:05Z"
    add_project_secrets(ProjectSecrets([SecretPattern("day", Pattern(r"\d{4}-\d\d-\d\d"))]))
    assert clean_name("2026-01-02T03:04:05Z") == "[redacted: day]T03:04:05Z"
