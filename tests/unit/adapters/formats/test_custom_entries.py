"""Logs of events that a suite declares: what each entry is, and what a mapping that loses calls leads to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.adapters.suites.yaml_tree import load
from evalgate.models.trace.trace import DamagedTrace, Trace
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_suite
from evalgate.suite.suite_file import Defaults

if TYPE_CHECKING:
    from evalgate.suite.models import CustomMapping

TAIL = "format: custom\nscenarios: [{id: a, assertions: [{contains: x}]}]\n"
LOG = """\
custom:
  lines: run
  id: "[0].run"
  type_field: event
  types: {user: asked, assistant: answer, call: start, result: end, ignore: [run_*, timer]}
  join: {call_id: call.id, result_id: of}
  message: {content: text, timestamp: at}
  tool_calls: {name: call.tool, arguments: call.args, result: out, error: failure, duration_ms: ms}
"""
ASKED = {"event": "asked", "run": "r1", "text": "Where is order 42?", "at": "2026-11-27T10:00:00Z"}
START = {"event": "start", "run": "r1", "call": {"id": 1, "tool": "lookup", "args": {"id": 42}}, "at": 1780680349}
END = {"event": "end", "run": "r1", "of": 1, "out": {"state": "shipped"}, "ms": 12}
ANSWER = {"event": "answer", "run": "r1", "text": "It has shipped."}
RUN = [{"event": "run_started", "run": "r1", "host": {"name": "h"}}, ASKED, START, END, ANSWER]


def custom(text: str) -> CustomMapping:
    mistakes = Diagnostics()
    suite, _ = parse_suite(load(text + TAIL, "s.yaml"), "s.yaml", ".", SharedDefaults(None, Defaults()), mistakes)
    assert [str(problem) for problem in mistakes.problems] == []
    assert suite is not None
    assert suite.custom is not None
    return suite.custom


def read(lines: Any, mapping: str = LOG) -> list[Any]:
    content = "\n".join(map(json.dumps, lines)) if isinstance(lines, list) else lines
    return list(TraceFiles(MemoryFiles({"t": content.encode()})).read(["t"], "", custom(mapping)))


def read_one(lines: Any, mapping: str = LOG) -> Trace:
    (trace,) = read(lines, mapping)
    assert isinstance(trace, Trace), trace.reason
    return trace


def calls_of(trace: Trace) -> list[tuple[str, Any, Any, str]]:
    return [(call["name"], call["arguments"], call["result"], call["status"]) for call in trace.tool_calls]


def test_the_lines_of_a_file_are_one_run_whose_calls_find_their_results() -> None:
    trace = read_one(RUN)
    assert (trace.trace_id, trace.gaps) == ("r1", {})
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Where is order 42?"),
        ("assistant", None),
        ("tool", '{"state":"shipped"}'),
        ("assistant", "It has shipped."),
    ]
    assert calls_of(trace) == [("lookup", {"id": 42}, {"state": "shipped"}, "ok")]
    assert trace.tool_calls[0]["duration_ms"] == 12
    assert trace.messages[1]["timestamp"] == "2026-06-05T17:25:49Z"
    assert trace.response["content"] == "It has shipped."


@pytest.mark.parametrize("text", [json.dumps(RUN), json.dumps(RUN, indent=1), json.dumps({"entries": RUN})])
def test_a_document_holds_the_entries_as_well_as_lines_do(text: str) -> None:
    mapping = LOG.replace("lines: run", "items: entries") if "entries" in text else LOG
    assert calls_of(read_one(text, mapping.replace("[0].run", "@ && 'r1'")))[0][0] == "lookup"


def test_a_failed_call_is_known_by_its_result() -> None:
    trace = read_one([ASKED, START, {"event": "end", "run": "r1", "of": 1, "failure": "no such order"}, ANSWER])
    assert calls_of(trace) == [("lookup", {"id": 42}, None, "error")]
    assert trace.tool_calls[0]["error"] == {"type": None, "message": "no such order"}


def test_calls_before_their_results_are_one_step_and_join_by_id() -> None:
    second = {**START, "call": {"id": 2, "tool": "stock", "args": {}}}
    trace = read_one([ASKED, START, second, {**END, "of": 2, "out": "two"}, {**END, "of": 1, "out": "one"}, ANSWER])
    assert [(call["name"], call["result"], call["step"]) for call in trace.tool_calls] == [
        ("lookup", "one", 1),
        ("stock", "two", 1),
    ]


def test_calls_whose_end_is_known_at_once_are_a_step_each() -> None:
    start = {**START, "out": "done"}
    trace = read_one([ASKED, start, {**start, "call": {"id": 2, "tool": "stock", "args": {}}}, ANSWER])
    assert [(call["name"], call["result"], call["step"]) for call in trace.tool_calls] == [
        ("lookup", "done", 1),
        ("stock", "done", 2),
    ]


def test_an_answer_and_the_start_of_the_call_that_it_requests_are_one_call() -> None:
    mapping = LOG.replace("message: {content: text,", "message: {content: text, tool_calls: wants,").replace(
        "{name: call.tool, arguments: call.args,", "{name: tool || call.tool, arguments: args || call.args,"
    )
    answer = {**ANSWER, "text": "I look.", "wants": [{"id": 1, "tool": "lookup", "args": {"id": 42}}]}
    assert [call[0] for call in calls_of(read_one([ASKED, answer, START, END, ANSWER], mapping))] == ["lookup"]
    other = {**START, "call": {**START["call"], "args": {"id": 43}}}
    trace = read_one([ASKED, answer, other, END, ANSWER], mapping)
    assert [call[1] for call in calls_of(trace)] == [{"id": 42}, {"id": 43}]
    again = read_one([ASKED, answer, START, END, START, END, ANSWER], mapping)
    assert [call[0] for call in calls_of(again)] == ["lookup", "lookup"]


SEVERAL = [
    {**line, "run": run} for pair in zip(RUN, RUN, strict=True) for run, line in zip(("r1", "r2"), pair, strict=True)
]


def test_runs_in_one_log_are_divided_by_their_id() -> None:
    mapping = LOG.replace('id: "[0].run"', "run_id: run")
    traces = read([*SEVERAL, {"event": "timer"}], mapping)
    assert [(trace.trace_id, len(trace.messages), calls_of(trace)[0][0]) for trace in traces] == [
        ("r1", 4, "lookup"),
        ("r2", 4, "lookup"),
    ]


def test_a_line_of_no_run_is_an_error_unless_its_type_is_ignored() -> None:
    (damaged,) = read(
        [*SEVERAL, {"event": "start", "call": {"tool": "delete"}}], LOG.replace('id: "[0].run"', "run_id: run")
    )
    assert isinstance(damaged, DamagedTrace)
    assert "custom.run_id (`run`) of line 11 finds nothing" in damaged.reason


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"event": "did", "do": "delete_user", "with": {}}, "does not name: `did`"),
        ({"do": "delete_user", "with": {}}, "does not name: `no type`"),
        ({"event": "end", "of": 9, "out": "gone"}, "the result of a tool is recorded, but not its call"),
    ],
)
def test_an_entry_that_may_be_a_call_makes_calls_incomplete(entry: dict[str, Any], reason: str) -> None:
    assert reason in read_one([ASKED, START, END, entry, ANSWER]).gaps["calls"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"event": "start", "call": {"id": 2, "args": {}}}, "custom.tool_calls.name (`call.tool`) of entry 4 finds nothing"),
        ({"event": "start", "call": {"tool": "delete"}}, "custom.join.call_id (`call.id`) of entry 4 finds nothing"),
        ({"event": {"a": 1}}, "custom.type_field (`event`) of entry 4 is neither text nor a number"),
        ({"event": "timer", "name": "delete", "arguments": {}}, "looks like a call of delete, which was not read"),
        ({"event": "answer", "tool_calls": [{"name": "delete", "arguments": {}}]}, "looks like a call of delete"),
    ],
)  # fmt: skip
def test_an_entry_that_is_a_call_and_is_not_read_is_an_error(entry: dict[str, Any], reason: str) -> None:
    mapping = LOG.replace("content: text,", "content: text, tool_calls: wants,")
    (damaged,) = read([ASKED, START, END, entry, ANSWER], mapping)
    assert isinstance(damaged, DamagedTrace)
    assert reason in damaged.reason


def test_a_line_that_is_no_json_is_an_error_of_its_own() -> None:
    damaged, trace = read("\n".join([*map(json.dumps, RUN), '{"event": "start", "ca']))
    assert isinstance(damaged, DamagedTrace)
    assert isinstance(trace, Trace)


def test_types_that_name_no_calls_leave_them_unknown() -> None:
    mapping = LOG.replace("call: start, result: end, ", "").replace("[run_*,", "[run_*, start, end,")
    assert "set `types.call`, or `message.tool_calls`" in read_one([ASKED, ANSWER], mapping).gaps["calls"]
    declared = mapping.replace("content: text,", "content: text, tool_calls: wants,")
    assert read_one([ASKED, ANSWER], declared).gaps == {}


def test_a_message_of_several_results_joins_each_with_its_call() -> None:
    mapping = """\
custom:
  lines: run
  type_field: who
  types: {user: human, assistant: bot}
  message: {content: text, tool_calls: does, tool_results: got, tool_call_id: of}
  tool_calls: {result: out, error: failed}
"""
    does = [{"id": "1", "name": "a", "arguments": {}}, {"id": "2", "name": "b", "arguments": {}}]
    got = [{"of": "2", "out": "B"}, {"of": "1", "out": "A", "failed": True}]
    lines = [{"who": "human", "text": "hi"}, {"who": "bot", "does": does}, {"who": "human", "got": got}]
    trace = read_one([*lines, {"who": "bot", "text": "done"}], mapping)
    assert calls_of(trace) == [("a", {}, "A", "error"), ("b", {}, "B", "ok")]
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    more = read_one([*lines[:2], {**lines[2], "text": "go on"}], mapping)
    assert [message["role"] for message in more.messages] == ["user", "assistant", "tool", "tool", "user"]


def test_the_name_of_a_role_or_type_stands_before_patterns() -> None:
    mapping = """\
custom:
  messages: log
  roles: {"Orchestrator*": assistant, "Orchestrator (to user)": user, "*": tool}
"""
    log = [{"role": "Orchestrator (to user)", "content": "hi"}, {"role": "Orchestrator (plan)", "content": "a"},
           {"role": "user", "content": "b"}]  # fmt: skip
    trace = read_one(json.dumps({"log": log}), mapping)
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "user"]


def test_items_that_are_not_there_are_an_error() -> None:
    (damaged,) = read(json.dumps({"run": 1}), LOG.replace("lines: run", "items: entries"))
    assert isinstance(damaged, DamagedTrace)
    assert "custom.items (`entries`) finds nothing" in damaged.reason
