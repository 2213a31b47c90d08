"""The `redact` key of a project, and the errors of an invalid one."""

from __future__ import annotations

import pytest

from evalgate.adapters.suites.yaml_tree import load
from evalgate.measures.redaction.redact import hide_secrets, redact
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import parse_project

HEAD = "version: 1\nsuites: [s.yaml]\nredact:\n"


@pytest.fixture(autouse=True)
def nothing_else_hidden():
    hide_secrets([])
    yield
    hide_secrets([])


def list_problems(text):
    diagnostics = Diagnostics()
    parse_project(load(HEAD + text, "evalgate.yaml"), diagnostics)
    return [str(problem) for problem in diagnostics.problems]


def test_redact__is_active_as_soon_as_the_file_is_read():
    assert list_problems("  patterns: [{name: car 1, regex: 'car-[0-9]+'}]\n  fields: [owner]\n") == []
    assert redact("car-77 owner: Ann") == "[redacted: car 1] owner: [redacted: field]"


def test_redact__with_an_error__adds_no_pattern():
    assert list_problems("  patterns: [{name: car, regex: 'car-[0-9]+'}, {name: bad, regex: '('}]\n")
    assert redact("car-77") == "car-77"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  patterns: [{name: a, regex: '('}]\n", "4:24: this is not a regular expression (character 2)"),
        ("  patterns: [{name: a, regex: ''}]\n", "4:24: `regex` must have 1 or more characters"),
        (
            "  patterns: [{name: a, regex: '.*'}]\n",
            "4:24: this pattern would redact everything: it matches empty text",
        ),
        (
            "  patterns: [{name: a, regex: '\\w+'}]\n",
            "4:24: this pattern would redact everything: it matches ordi",
        ),
        (
            "  patterns: [{name: a, regex: '(a{9999}){9999}'}]\n",
            "4:24: the repeat counts make this pattern too large",
        ),
        ("  patterns: [{name: 'a]', regex: ab}]\n", "4:15: `name` has a character that is not allowed"),
        ("  patterns: [{name: a}]\n", "4:14: `regex` is missing"),
        ("  patterns: [{name: a, regex: ab}, {name: a, regex: cd}]\n", "4:37: `a` appears twice in `redact`"),
        ("  fields: [content]\n", "4:12: `content` is a field of every trace or report"),
        ("  fields: [a, Score]\n", "4:15: `Score` is a field of every trace or report"),
        ("  fields: ['']\n", "4:12: an entry of `fields` must have 1 or more characters"),
        ("  fields: [' a']\n", "4:12: an entry of `fields` has a character that is not allowed"),
        ("  fields: name\n", "4:3: `fields` must be a list"),
        ("  field: [a]\n", '4:3: unknown key "field" (did you mean `fields`?)'),
        ("  fields: []\n", "3:1: `redact` is empty"),
        (f"  fields: [{', '.join(f'f{number}' for number in range(201))}]\n", "4:3: `fields` must have"),
    ],
)
def test_error__is_reported_with_its_location(text, expected):
    assert expected in "\n".join(list_problems(text))


@pytest.mark.parametrize("value", ["null", "[]", "5", "{}", "off", "false"])
def test_redact__can_not_be_switched_off(value):
    assert list_problems("")[:1] == list_problems(" null\n")[:1] != []
    diagnostics = Diagnostics()
    parse_project(load(f"version: 1\nsuites: [s.yaml]\nredact: {value}\n", "evalgate.yaml"), diagnostics)
    assert diagnostics.problems
