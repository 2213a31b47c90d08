"""What a suite may say about a format of its own, and what is told when it can't be meant."""

import pytest

from evalgate.adapters.suites.yaml_tree import load
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_project, parse_suite
from evalgate.suite.schema.suite_file import Defaults

TAIL = "scenarios: [{id: a, assertions: [{contains: x}]}]\n"


def parse(text, shared=None):
    mistakes = Diagnostics()
    defaults = SharedDefaults(None, Defaults()) if shared is None else shared
    suite, _ = parse_suite(load(text + TAIL, "s.yaml"), "s.yaml", ".", defaults, mistakes)
    return suite, [str(problem) for problem in mistakes.problems]


def project(text):
    mistakes = Diagnostics()
    document = load("version: 1\nsuites: [s.yaml]\n" + text, "evalgate.yaml")
    found = parse_project(document, mistakes)
    told = [str(problem) for problem in mistakes.problems]
    return SharedDefaults(document, found.defaults) if found else None, told


def test_a_suite_says_where_the_fields_of_a_trace_stand():
    suite, told = parse(
        "format: custom\n"
        "custom:\n"
        "  records: runs\n"
        "  messages: log\n"
        "  message: {role: who}\n"
        "  tool_calls: {path: did, name: fn}\n"
        "  roles: {bot: assistant}\n"
    )
    assert told == []
    custom = suite.custom
    assert custom.records.expression == "runs"
    assert custom.calls.expression == "did"
    assert {name: query.expression for name, query in custom.run.items()} == {"messages": "log"}
    assert {name: query.expression for name, query in custom.message.items()} == {
        "role": "who",
        "content": "content",
        "tool_calls": "tool_calls",
        "tool_call_id": "tool_call_id",
        "tool_name": "tool_name",
    }
    assert {name: query.expression for name, query in custom.call.items()} == {
        "id": "id",
        "name": "fn",
        "arguments": "arguments",
        "result": "result",
    }
    assert custom.roles == {"bot": "assistant"}


def test_a_suite_of_another_format_has_none():
    suite, told = parse("format: native\n")
    assert (suite.custom, told) == (None, [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "format: custom\n",
            "s.yaml:1:1: `format: custom` needs `custom`, which says where the fields of a trace stand",
        ),
        (
            "custom: {response: a}\n",
            "s.yaml:1:1: `custom` is read only with `format: custom` (add `format: custom`, or take `custom` away)",
        ),
        (
            "format: native\ncustom: {response: a}\n",
            "s.yaml:2:1: `custom` is read only with `format: custom` (add `format: custom`, or take `custom` away)",
        ),
        (
            "format: custom\ncustom: {scenario_id: a}\n",
            "s.yaml:2:1: `custom` finds nothing that an agent said or did (give it `messages`, or `response`, or `path` of `tool_calls`)",
        ),
        (
            "format: custom\ncustom:\n  messages: log\n  message: {role: 'who['}\n",
            "s.yaml:4:13: bad expression: the expression ends too early (character 5): who[",
        ),
        (
            "format: custom\ncustom:\n  messages: log\n  tool_calls:\n    result: foo(@)\n",
            's.yaml:5:5: bad expression: there is no function "foo", did you mean floor?: foo(@)',
        ),
        (
            "format: custom\ncustom:\n  response: a\n  mesages: log\n",
            's.yaml:4:3: unknown key "mesages" (did you mean `messages`?)',
        ),
        (
            "format: custom\ncustom:\n  response: a\n  latency_ms: b\n  latency_seconds: c\n",
            "s.yaml:5:3: `latency_ms` and `latency_seconds` say the same thing: keep one",
        ),
        (
            "format: custom\ncustom:\n  response: a\n  tool_calls: {duration_ms: b, duration_seconds: c}\n",
            "s.yaml:4:32: `duration_ms` and `duration_seconds` say the same thing: keep one",
        ),
    ],
)
def test_what_can_not_be_meant_is_told_with_its_place(text, told):
    suite, problems = parse(text)
    assert suite is None
    assert problems == [told]


def test_a_role_that_is_none_of_ours_is_a_mistake():
    _, (told,) = parse("format: custom\ncustom: {response: a, roles: {bot: robot}}\n")
    assert told.startswith("s.yaml:2:")
    assert "bot" in told
    assert "assistant" in told


def test_a_project_says_it_for_all_suites():
    shared, told = project("defaults: {format: custom, custom: {response: a}}\n")
    assert told == []
    assert parse("", shared)[0].custom.run["response"].expression == "a"
    assert parse("custom: {response: b}\n", shared)[0].custom.run["response"].expression == "b"
    assert parse("format: native\n", shared)[0].custom is None


def test_a_mistake_in_a_project_is_told_once_and_there():
    shared, told = project("defaults:\n  format: custom\n  custom: {response: 'a['}\n")
    assert told == ["evalgate.yaml:5:12: bad expression: the expression ends too early (character 3): a["]
    assert parse("", shared)[1] == []
