from __future__ import annotations

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.cursor import CURSOR
from evalgate.adapters.formats.cursor import reader as cursor
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

STREAM = ROOT / "tests" / "recordings" / "cursor" / "stream.jsonl"
INIT = {"type": "system", "subtype": "init", "apiKeySource": "env", "session_id": "s", "model": "Auto"}
USER = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]}, "session_id": "s"}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"}
CLAUDE = {"type": "system", "subtype": "init", "apiKeySource": "none", "session_id": "s", "tools": [], "uuid": "u"}


def call_line(tool_call, state="started", **fields):
    return {"type": "tool_call", "subtype": state, "tool_call": tool_call, "session_id": "s", **fields}


def read(*lines):
    return read_record(CURSOR.reader, [INIT, USER, *lines], TraceLocation("x.jsonl"), "x.jsonl")


def names(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


def test_a_stream_is_read_with_its_calls_in_order():
    (trace,) = read_traces(STREAM.parent)
    assert [(c["name"], c["status"], c["step"], c["duration_ms"], c["agent"]) for c in trace.tool_calls] == [
        ("grep", "ok", 1, 500.0, None),
        ("shell", "error", 1, 40.0, None),
        ("delete_user", "ok", 2, 250.0, None),
        ("task", "ok", 3, 2000.0, None),
        ("read", "ok", 3, None, "subagent"),
        ("notify", "error", 4, 100.0, None),
    ]
    assert trace.tool_calls[1]["exit_code"] == 1
    assert trace.tool_calls[2]["arguments"] == {"id": 7}
    assert trace.tool_calls[2]["result_text"] == "user 7 is deleted"
    assert trace.tool_calls[4]["result_text"] == "12,7\n13,7\n"
    assert trace.tool_calls[5]["arguments"] == {"text": "done"}


def test_a_stream_has_its_messages_tokens_and_time():
    (trace,) = read_traces(STREAM.parent)
    assert trace.messages[0]["content"] == "Remove the account of Ada and list her orders."
    assert trace.messages[1]["reasoning"] == "First look for her."
    assert trace.response["content"] == "Ada's account is deleted; her orders are 12 and 13."
    assert (trace.model, trace.status, trace.latency["total_ms"]) == ("Composer 2", "ok", 4200.0)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (3000, 140)
    assert trace.cost["usd"] is None
    assert trace.gaps == {}


def test_cursor_and_claude_code_have_different_lines():
    lines = [orjson.loads(line) for line in STREAM.read_bytes().splitlines()]
    assert detect.detect_format(lines).name == "cursor"
    assert detect.detect_format([lines]).name == "cursor"
    assert detect.detect_format([CLAUDE, USER, RESULT]).name == "claude-code"
    assert detect.detect_format([{**RESULT, "request_id": "r", "duration_ms": 1}]).name == "cursor"
    assert detect.detect_format([{**RESULT, "total_cost_usd": 0.1, "num_turns": 1}]).name == "claude-code"


@pytest.mark.parametrize(
    ("tool_call", "found"),
    [
        ({"deleteToolCall": {"args": {"path": "a", "toolCallId": "c"}}}, ("delete", {"path": "a"})),
        ({"mcpToolCall": {"args": {"toolName": "delete_user", "args": {"id": 1}}}}, ("delete_user", {"id": 1})),
        ({"mcpToolCall": {"args": {"name": "delete_user"}}}, ("delete_user", None)),
        ({"function": {"name": "delete_user", "arguments": '{"id": 1}'}}, ("delete_user", {"id": 1})),
        ({"name": "delete_user", "args": {"id": 1}}, ("delete_user", {"id": 1})),
        ({"toolCallId": "c", "delete_user": {"args": {"id": 1}}}, ("delete_user", {"id": 1})),
    ],
)
@pytest.mark.parametrize("state", ["started", "completed", "updated"])
def test_every_form_of_a_call_is_read_once(tool_call, found, state):
    trace = read(call_line(tool_call, state), RESULT)
    assert [call[:2] for call in names(trace)] == [found]


@pytest.mark.parametrize(
    ("tool_call", "problem"),
    [
        ({}, "tool_call names no tool"),
        ({"toolCallId": "c"}, "tool_call names no tool"),
        ({"readToolCall": {"args": {}}, "deleted": {"user": 1}}, "deleted is not a call of a known form"),
        ({"mcpToolCall": {"args": {"args": {}}}}, r"mcpToolCall\.args\.toolName is missing"),
        ({"mcpToolCall": {"result": {"success": {}}}}, "names no tool, and no line before it"),
        ({"taskToolCall": {"result": {"success": {"conversationSteps": [{"x": 1}]}}}}, "not a step of a known form"),
    ],
)
def test_a_call_of_an_unknown_form_is_an_error(tool_call, problem):
    with pytest.raises(TraceError, match=problem):
        cursor.build([INIT, call_line(tool_call, "completed", call_id="c"), RESULT])


def test_start_and_end_without_an_id_are_one_call():
    args = {"args": {"path": "a"}}
    ended = {**args, "result": {"error": {"errorMessage": "not found"}}}
    trace = read(call_line({"readToolCall": args}), call_line({"readToolCall": ended}, "completed"), RESULT)
    assert names(trace) == [("read", {"path": "a"}, "error")]
    assert trace.tool_calls[0]["error"]["message"] == "not found"


def test_another_tool_with_the_same_id_is_a_call_too():
    lines = [call_line({f"{tool}ToolCall": {"args": {}}}, call_id="c") for tool in ("read", "delete_user")]
    assert [name for name, _, _ in names(read(*lines, RESULT))] == ["read", "delete_user"]


def test_the_end_of_a_call_may_leave_out_its_tool():
    start = call_line({"mcpToolCall": {"args": {"toolName": "delete_user", "args": {}}}}, call_id="c")
    end = call_line({"mcpToolCall": {"result": {"error": {"error": "failed"}}}}, "completed", call_id="c")
    assert names(read(start, end, RESULT)) == [("delete_user", {}, "error")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "tool_use_summary", "session_id": "s"}, "the unknown type tool_use_summary"),
        (call_line({"taskToolCall": {"args": {}, "result": {"success": {}}}}, "completed"), "of a sub-agent"),
        ({**USER, "toolUses": [["delete_user", {}]]}, "`[2].toolUses"),
        ({**USER, "extra": [{"delete_user": {"id": 1}}]}, "`[2].extra` is an unknown field"),
        (call_line({"truncatedToolCall": {"args": {}}}, "completed"), "without its tool"),
    ],
)
def test_what_may_hide_a_call_makes_the_calls_incomplete(line, reason):
    assert reason in read(line, RESULT).gaps["calls"]


def test_an_object_that_looks_like_a_call_elsewhere_is_an_error():
    found = read({"type": "tool", "name": "delete_user", "arguments": {"id": 1}}, RESULT)
    assert isinstance(found, DamagedTrace)
    assert "delete_user" in found.reason


def test_the_json_output_has_the_answer_but_no_calls():
    line = {**RESULT, "request_id": "r", "duration_ms": 5}
    trace = read_record(CURSOR.reader, [line], TraceLocation("x.json"), "x.json")
    assert trace.response["content"] == "Done."
    assert trace.gaps.keys() == {"calls", "messages"}
    assert "stream-json" in trace.gaps["calls"]


def test_a_stream_without_a_result_is_incomplete():
    assert read(call_line({"readToolCall": {"args": {}}})).status == "incomplete"
    assert read({**RESULT, "subtype": "error", "is_error": True}).status == "error"


def test_a_file_is_split_by_session():
    lines = [INIT, USER, RESULT, {**INIT, "session_id": "t"}, {**USER, "session_id": "t"}]
    assert [len(one) for one in cursor.split(lines)] == [3, 2]
    assert len(cursor.split([{"type": "user"}, *lines])) == 2
