"""How calls ended: one rule for exit codes in all formats, and results that may be those of failures."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from assess_assertion import assess
from documents import ROOT
from hostile.recorded_calls import read

from evalgate.adapters.formats.core.builder.call_outcomes import apply_exit_codes
from evalgate.adapters.formats.writers import get_writer
from evalgate.models.trace.trace import Trace
from evalgate.models.trace.trace_view import get_view
from evalgate.reporting.terminal.conversation import render_conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUEST = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "bash", "arguments": {"command": "grep x a"}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "no match", "exit_code": 1}
CALL = {"name": "bash", "arguments": {"command": "grep x a"}, "result_text": "no match", "status": "ok", "exit_code": 1}
NATIVE = {"schema": "evalgate.trace/1", "messages": [REQUEST, RESULT]}
EVENTS = [
    {"id": 1, "source": "user", "action": "message", "args": {"content": "look"}},
    {"id": 2, "source": "agent", "action": "run", "args": {"command": "grep x a"}},
    {"id": 3, "source": "agent", "observation": "run", "cause": 2, "content": "", "extras": {"exit_code": 1}},
]
COMMAND = {"type": "command_execution", "id": "i", "command": "grep x a", "aggregated_output": "", "exit_code": 1}
ANSWER = "```bash\ngrep x a\n```"
RECORDS: dict[str, Sequence[Any]] = {
    "native": [NATIVE],
    "native, with a flag that contradicts": [NATIVE | {"messages": [REQUEST, RESULT | {"is_error": False}]}],
    "native, with calls apart": [{"schema": "evalgate.trace/1", "messages": [REQUEST], "tool_calls": [CALL]}],
    "openhands": [EVENTS],
    "mini-swe-agent": [
        [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": ANSWER},
            {"role": "user", "content": "<returncode>1</returncode>\n<output>\n</output>"},
        ]
    ],
    "codex": [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": COMMAND | {"status": "completed"}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
    ],
}


def read_trace(documents: Sequence[Any]) -> Trace:
    [trace] = read(b"\n".join(map(orjson.dumps, documents)))
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize("name", RECORDS)
def test_a_recorded_exit_code_other_than_0_is_an_error_of_the_call(name):
    trace = read_trace(RECORDS[name])
    [call] = trace.tool_calls
    assert (call["status"], call["exit_code"]) == ("error", 1)
    assert assess({"type": "max_tool_errors", "max": 0}, trace).outcome == "failed"
    assert assess({"type": "tool_sequence", "sequence": [{"tool": "*", "status": "ok"}]}, trace).outcome == "failed"


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "recordings").glob("*/*.json*")), ids=lambda path: path.stem)
def test_no_recording_has_a_successful_call_with_another_exit_code(path):
    calls = [call for trace in read(path.read_bytes()) if isinstance(trace, Trace) for call in trace.tool_calls]
    assert [call for call in calls if call["exit_code"] and call["status"] != "error"] == []


def test_exit_code_0_and_recorded_errors_stay():
    trace = read_trace([NATIVE | {"messages": [REQUEST, RESULT | {"exit_code": 0}]}])
    before = copy.deepcopy(trace.tool_calls)
    apply_exit_codes(trace)
    assert trace.tool_calls == before
    trace.tool_calls[0] |= {"exit_code": 1, "status": "error", "error": {"type": "Timeout", "message": "late"}}
    apply_exit_codes(trace)
    assert trace.tool_calls[0]["error"] == {"type": "Timeout", "message": "late"}


ASKS = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
CHAT = [{"role": "assistant", "content": None, "tool_calls": [ASKS]}, {"role": "tool", "tool_call_id": "c1"}]
LANGCHAIN = [
    {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "refund", "args": {}, "id": "c1"}]}},
    {"type": "tool", "data": {"content": "x", "tool_call_id": "c1"}},
]
ITEMS = [
    {"type": "function_call", "call_id": "c1", "name": "refund", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "x"},
]
ATIF_STEP = {
    "step_id": 1,
    "source": "agent",
    "message": "I refund.",
    "tool_calls": [{"tool_call_id": "c1", "function_name": "refund", "arguments": {}}],
    "observation": {"results": [{"source_call_id": "c1", "content": "x"}]},
}
ATIF = {"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": [ATIF_STEP]}
ANTHROPIC = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "refund", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]},
]
SWE_AGENT = {
    "environment": "e",
    "trajectory": [{"action": "refund", "observation": "x", "response": "I refund.", "thought": "", "state": "{}"}],
    "history": [{"role": "user", "content": "go", "agent": "primary"}],
    "info": {},
}
UNKNOWN: dict[str, Sequence[Any]] = {
    "native, null": [NATIVE | {"messages": [REQUEST, {**RESULT, "exit_code": None, "is_error": None}]}],
    "native, with calls apart": [NATIVE | {"tool_calls": [CALL | {"status": "unknown", "exit_code": None}]}],
    "chat messages": [{"messages": [CHAT[0], CHAT[1] | {"content": "x"}]}],
    "langchain without a status": [{"messages": LANGCHAIN}],
    "responses": [ITEMS],
    "atif": [ATIF],
    "swe-agent": [SWE_AGENT],
}
KNOWN: dict[str, Sequence[Any]] = {
    "native": [NATIVE | {"messages": [REQUEST, {**RESULT, "exit_code": None}]}],
    "native, exit code 0": [NATIVE | {"messages": [REQUEST, {**RESULT, "exit_code": 0, "is_error": None}]}],
    "anthropic, whose flag is false unless it is given": [{"messages": ANTHROPIC}],
    "langchain with a status": [
        {"messages": [LANGCHAIN[0], {"type": "tool", "data": {**LANGCHAIN[1]["data"], "status": "success"}}]}  # type: ignore[dict-item]
    ],
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_result_that_nothing_calls_a_success_is_never_shown_as_one(name):
    trace = read_trace(UNKNOWN[name])
    assert [call["status"] for call in trace.tool_calls] == ["unknown"]
    shown = render_conversation(trace)
    assert "-> returned" in shown
    assert "ok:" not in shown
    assert get_view(trace).get("tool_calls")[0]["status"] == "unknown"


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_outcome_is_kept_when_a_trace_is_written(name):
    trace = read_trace(UNKNOWN[name])
    assert [call["status"] for call in read_trace([get_writer("native")(trace)]).tool_calls] == ["unknown"]


@pytest.mark.parametrize("name", KNOWN)
def test_a_result_of_a_format_with_an_error_flag_is_a_success_without_it(name):
    assert [call["status"] for call in read_trace(KNOWN[name]).tool_calls] == ["ok"]


def test_errors_of_messages_are_judged_by_what_is_recorded_and_those_of_commands_are_unknown():
    demand = {"type": "max_tool_errors", "max": 0}
    assert assess(demand, read_trace(UNKNOWN["chat messages"])).outcome == "passed"
    found = assess(demand, read_trace(UNKNOWN["swe-agent"]))
    assert found.outcome == "not_evaluable"
    assert "whether calls of `refund` succeeded is not recorded" in found.reason
    step = {"type": "tool_sequence", "sequence": [{"tool": "*", "status": "ok"}]}
    assert assess(step, read_trace(UNKNOWN["chat messages"])).outcome == "passed"
    assert assess(step, read_trace(UNKNOWN["swe-agent"])).outcome == "not_evaluable"
