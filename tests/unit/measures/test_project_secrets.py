from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.redaction.project_secrets import (
    NamedValues,
    ProjectSecrets,
    SecretPattern,
    explain_too_broad,
)
from evalgate.measures.redaction.redact import Redactor
from evalgate.measures.text.patterns import Pattern

TOKEN = "ghp_" + "a1B2" * 9
OWN = ProjectSecrets([SecretPattern("customer", Pattern(r"C-\d{6}"))], ["account", "full name", "Straße"])


def redactor(own=OWN):
    made = Redactor()
    made.project = own
    return made


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("C-123456", "[redacted: customer]"),
        ("of C-123456, C-1 and C-654321.", "of [redacted: customer], C-1 and [redacted: customer]."),
        ("C-12\u200b34\u202e56", "[redacted: customer]"),
        ("account: 12 34, due", "account: [redacted: field], due"),
        ("ACCOUNT=12 due", "ACCOUNT=[redacted: field] due"),
        ("full name := Ann", "full name := [redacted: field]"),
        ("STRASSE: Weg 5", "STRASSE: [redacted: field]"),
        ('{"account": "a \\" b", "x": 1}', '{"account": "[redacted: field]", "x": 1}'),
        ('{\\"account\\": \\"7\\"}', '{\\"account\\": \\"[redacted: field]\\"}'),
        ('{"account": {"id": ["}", 5]}, "x": 1}', '{"account": [redacted: field], "x": 1}'),
        ('{"account": "cut off', '{"account": "[redacted: field]'),
        ('{"account": [1, 2', '{"account": [redacted: field]'),
    ],
)
def test_text__shows_a_mark_instead_of_the_secret(text, shown):
    assert redactor().redact_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "C-12345",
        "my account is fine",
        "accounts: 5",
        "my_account=5",
        '"account": null',
        "account == 5",
    ],
)
def test_text__that_no_pattern_matches__stays(text):
    assert redactor().redact_text(text) == text


def test_known_secrets_are_removed_too__whatever_a_project_configures():
    assert redactor().redact_text(f"{TOKEN} C-123456") == "[redacted: GitHub token] [redacted: customer]"


@pytest.mark.parametrize("text", ["C-123456 account: x", f"account: {TOKEN}", '{"account": {"a": "C-123456"}}'])
def test_a_second_redaction_changes_nothing(text):
    once = redactor().redact_text(text)
    assert redactor().redact_text(once) == once


def test_a_redaction_mark_in_a_trace_hides_nothing_from_a_pattern():
    assert "C-123456" not in redactor().redact_text("[redacted: C-123456] [redacted: secret, C-123456]")


def test_value__under_a_name__is_removed_whatever_it_is():
    document = {"Account": [7, "x", {"y": 1.5, "C-123456": "z", "no": None, "is": True}], "of": "C-123456"}
    mark = "[redacted: field]"
    assert redactor().redact_value(document) == {
        "Account": [mark, mark, {"y": mark, "[redacted: customer]": mark, "no": None, "is": True}],
        "of": "[redacted: customer]",
    }


def test_a_pattern_that_takes_too_long__redacts_the_text():
    slow = ProjectSecrets([SecretPattern("slow", Pattern(r"(x+x+)+y", 1.0))])
    text = "x" * 5_000 + "zy"
    assert redactor(slow).redact_text(text) == "[redacted: slow, text not searched]"
    assert redactor(slow).redact_text("other xy") == "[redacted: slow, text not searched]"


def test_redactor_can_be_sent_to_other_processes():
    there = pickle.loads(pickle.dumps(OWN))  # noqa: S301  our own
    assert there.includes(OWN)
    assert OWN.includes(there)
    assert redactor(there).redact_text("C-123456 account=1") == redactor().redact_text("C-123456 account=1")


def test_joined__redacts_what_either_does():
    both = OWN.merge(ProjectSecrets([SecretPattern("car", Pattern("car-[0-9]"))], ["owner"]))
    shown = redactor(both).redact_text("C-123456 car-7 account=1 owner=2")
    assert shown == "[redacted: customer] [redacted: car] account=[redacted: field] owner=[redacted: field]"


@pytest.mark.parametrize(
    ("pattern", "is_too_much"),
    [
        (r"\w+", True),
        (".", True),
        ("[a-z]", True),
        (r"\d*", True),
        (r"\b", True),
        ("(?=a)", True),
        ("$", True),
        (r"\d+", False),
        (r"\S+@\S+", False),
        (r"(?i)\bcustomer-\w+", False),
    ],
)
def test_pattern__that_redacts_everything__is_recognised(pattern, is_too_much):
    assert (explain_too_broad(Pattern(pattern)) is not None) == is_too_much


@given(st.text(alphabet="ab\"\\':={}[], \n", max_size=40), st.text(alphabet="xyz019", min_size=1))
def test_value_of_a_name_in_json__is_never_left(around, value):
    document = json.dumps({"before": around, "a name": value, "after": around})
    for text in (document, json.dumps(document)):
        found = [text[start:end] for start, end in NamedValues(["A NAME"]).find_spans(text)]
        assert any(value in each for each in found)


@pytest.mark.parametrize("unit", ["n:", "n:{", "n:[", 'n:"', 'n:\\"', "n\\", "n:{\\", 'n:{"', "[redacted: field]"])
def test_time__of_very_long_text__is_linear(unit):
    """Counts calls and characters of EvalGate's own code: no search restarts at every position."""
    text = unit * 20_000
    assert len(redactor(ProjectSecrets((), ["n", "field]"])).redact_text(text)) <= 40 * len(text)
