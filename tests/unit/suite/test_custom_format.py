"""The custom format of a suite, and the errors of an invalid one."""

import pytest

from evalgate.adapters.suites.yaml_tree import load
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_project, parse_suite
from evalgate.suite.suite_file import Defaults

TAIL = "scenarios: [{id: a, assertions: [{contains: x}]}]\n"


def parse(text, shared=None):
    diagnostics = Diagnostics()
    defaults = SharedDefaults(None, Defaults()) if shared is None else shared
    suite, _ = parse_suite(load(text + TAIL, "s.yaml"), "s.yaml", ".", defaults, diagnostics)
    return suite, [str(problem) for problem in diagnostics.problems]


def parse_defaults(text):
    diagnostics = Diagnostics()
    document = load("version: 1\nsuites: [s.yaml]\n" + text, "evalgate.yaml")
    found = parse_project(document, diagnostics)
    problems = [str(problem) for problem in diagnostics.problems]
    return SharedDefaults(document, found.defaults) if found else None, problems


def test_a_suite_maps_the_fields_of_a_trace():
    suite, problems = parse(
        "format: custom\n"
        "custom:\n"
        "  records: runs\n"
        "  messages: log\n"
        "  message: {role: who}\n"
        "  tool_calls: {path: did, name: fn}\n"
        "  roles: {bot: assistant}\n"
    )
    assert problems == []
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


def test_a_suite_says_what_the_entries_of_a_log_are():
    suite, problems = parse(
        "format: custom\n"
        "custom:\n"
        "  lines: run\n"
        "  type_field: kind\n"
        "  types: {ignore: '*', assistant: [answered, s*], call: [start_*, go]}\n"
        "  join: {call_id: id, result_id: of}\n"
    )
    assert problems == []
    entries = suite.custom.entries
    assert suite.custom.joins_lines
    assert {name: query.expression for name, query in suite.custom.join.items()} == {"call_id": "id", "result_id": "of"}
    assert [entries.find_kind(name) for name in ("answered", "start_a", "go", "x")] == [
        "assistant",
        "call",
        "call",
        "ignore",
    ]
    assert (entries.items, entries.type_field.expression, entries.has_calls) == (None, "kind", True)


def test_a_suite_of_another_format_has_no_mapping():
    suite, problems = parse("format: native\n")
    assert (suite.custom, problems) == (None, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "format: custom\n",
            "s.yaml:1:1: `format: custom` needs `custom`, which describes where the fields of a trace are",
        ),
        (
            "custom: {response: a}\n",
            "s.yaml:1:1: `custom` is read only with `format: custom` (add `format: custom`, or remove `custom`)",
        ),
        (
            "format: native\ncustom: {response: a}\n",
            "s.yaml:2:1: `custom` is read only with `format: custom` (add `format: custom`, or remove `custom`)",
        ),
        (
            "format: custom\ncustom: {scenario_id: a}\n",
            "s.yaml:2:1: `custom` finds neither messages nor tool calls (give it `messages`, or `response`, or `path` of `tool_calls`)",
        ),
        (
            "format: custom\ncustom:\n  messages: log\n  message: {role: 'who['}\n",
            "s.yaml:4:13: invalid expression: the expression is incomplete (character 5): who[",
        ),
        (
            "format: custom\ncustom:\n  messages: log\n  tool_calls:\n    result: foo(@)\n",
            's.yaml:5:5: invalid expression: unknown function "foo", did you mean floor?: foo(@)',
        ),
        (
            "format: custom\ncustom:\n  response: a\n  mesages: log\n",
            's.yaml:4:3: unknown key "mesages" (did you mean `messages`?)',
        ),
        (
            "format: custom\ncustom:\n  response: a\n  latency_ms: b\n  latency_seconds: c\n",
            "s.yaml:5:3: `latency_ms` and `latency_seconds` mean the same: remove one",
        ),
        (
            "format: custom\ncustom:\n  response: a\n  tool_calls: {duration_ms: b, duration_seconds: c}\n",
            "s.yaml:4:32: `duration_ms` and `duration_seconds` mean the same: remove one",
        ),
        (
            "format: custom\ncustom:\n  response: a\n  types: {user: u, assistant: b}\n",
            "s.yaml:4:3: `types` needs `type_field`, which finds the type of an entry",
        ),
        (
            "format: custom\ncustom:\n  response: a\n  items: events\n",
            "s.yaml:4:3: `items` needs `type_field`, which finds the type of an entry",
        ),
        (
            "format: custom\ncustom:\n  items: events\n  type_field: kind\n",
            "s.yaml:4:3: `type_field` needs `types`, which says what each type is",
        ),
        (
            "format: custom\ncustom:\n  type_field: kind\n  types: {assistant: b}\n",
            "s.yaml:3:3: `type_field` needs `items`, the list of entries, or `lines: run`",
        ),
        (
            "format: custom\ncustom:\n  lines: run\n  type_field: kind\n  types: {user: u, ignore: x}\n",
            "s.yaml:5:3: `types` names no type of the agent's answers or calls: give it `assistant` or `call`",
        ),
        (
            "format: custom\ncustom:\n  lines: run\n  type_field: kind\n  types:\n    assistant: [a, b]\n    ignore: [b, c]\n",
            's.yaml:7:5: "b" is in `assistant` too: remove one',
        ),
        (
            "format: custom\ncustom:\n  lines: run\n  type_field: kind\n  types: {assistant: b}\n  messages: log\n",
            "s.yaml:6:3: `messages` and `type_field` both find the messages: remove one",
        ),
        (
            "format: custom\ncustom:\n  lines: run\n  type_field: kind\n  types: {assistant: b}\n  tool_calls: {path: c}\n",
            "s.yaml:6:16: `path` and `type_field` both find the calls: remove one",
        ),
        (
            "format: custom\ncustom:\n  lines: run\n  type_field: kind\n  types: {call: b}\n  join: {call_id: id}\n",
            "s.yaml:6:3: `join` needs both: `call_id` and `result_id`",
        ),
        (
            "format: custom\ncustom:\n  messages: log\n  run_id: run\n",
            "s.yaml:4:3: `run_id` finds which lines are of one run: it needs `lines: run`",
        ),
        (
            "format: custom\ncustom:\n  lines: run\n  messages: log\n  records: runs\n",
            "s.yaml:5:3: `lines: run` makes a file one run, `records` several: remove one",
        ),
    ],
)
def test_an_invalid_mapping_is_reported_with_its_location(text, expected):
    suite, problems = parse(text)
    assert suite is None
    assert problems == [expected]


def test_an_unknown_role_is_an_error():
    _, (problem,) = parse("format: custom\ncustom: {response: a, roles: {bot: robot}}\n")
    assert problem.startswith("s.yaml:2:")
    assert "bot" in problem
    assert "assistant" in problem


def test_a_project_sets_the_mapping_for_all_suites():
    shared, problems = parse_defaults("defaults: {format: custom, custom: {response: a}}\n")
    assert problems == []
    assert parse("", shared)[0].custom.run["response"].expression == "a"
    assert parse("custom: {response: b}\n", shared)[0].custom.run["response"].expression == "b"
    assert parse("format: native\n", shared)[0].custom is None


def test_an_error_in_a_project_is_reported_once_in_its_file():
    shared, problems = parse_defaults("defaults:\n  format: custom\n  custom: {response: 'a['}\n")
    assert problems == ["evalgate.yaml:5:12: invalid expression: the expression is incomplete (character 3): a["]
    assert parse("", shared)[1] == []
