"""A run of a coding agent that was cut or interrupted is incomplete; one that went on, or ended by itself, is not."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.adapters.formats.claude_code import CLAUDE_CODE
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.cursor import CURSOR
from evalgate.adapters.formats.gemini_cli import GEMINI_CLI
from evalgate.adapters.formats.opencode import OPENCODE
from evalgate.models.trace.trace import Trace, TraceLocation

AT = "2026-11-28T10:00:00Z"
CUT = {"calls", "messages"}


def read(of: Any, documents: list[Any]) -> tuple[str, set[str]]:
    """How the run ended, and of which kinds evidence is missing."""
    [record] = of.reader.split(documents)
    trace = read_record(of.reader, record, TraceLocation("t.jsonl"), "t.jsonl")
    assert isinstance(trace, Trace), trace.reason
    return trace.status, set(trace.gaps)


def claude(role: str, *blocks: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": role, "content": list(blocks), "id": f"m{blocks}" if role == "assistant" else None}
    return {"type": role, "message": message, **fields}


ASKED = claude("user", {"type": "text", "text": "Look."})
CALL = claude("assistant", {"type": "tool_use", "id": "c1", "name": "Read", "input": {}})
RESULT = claude("user", {"type": "tool_result", "tool_use_id": "c1", "content": "Ann"})
ANSWER = claude("assistant", {"type": "text", "text": "It is Ann."})
INIT = {"type": "system", "subtype": "init", "model": "claude"}
END = {"type": "result", "subtype": "success", "result": "It is Ann.", "is_error": False}
LIMIT = {**END, "subtype": "error_max_turns"}
OF_AGENT = {**ANSWER, "parent_tool_use_id": "c1"}
STOPPED = claude("user", {"type": "text", "text": "[Request interrupted by user]"})
STOPPED_TOOL = claude("user", {"type": "text", "text": "[Request interrupted by user for tool use]"})
STOPPED_TEXT = {"type": "user", "message": {"role": "user", "content": "[Request interrupted by user]"}}
QUOTED = claude("user", {"type": "text", "text": "Why does it say [Request interrupted by user]?"})
STREAMS = {
    "one turn": ((ANSWER, END), "ok"),
    "two turns": ((ANSWER, END, INIT, CALL, RESULT, END), "ok"),
    "a second turn that was cut": ((ANSWER, END, INIT, CALL), "incomplete"),
    "a second turn that only began": ((ANSWER, END, INIT), "incomplete"),
    "a turn after a limit": ((ANSWER, LIMIT, INIT, CALL), "incomplete"),
    "an answer of a sub-agent after the end": ((CALL, RESULT, END, OF_AGENT), "ok"),
}
SESSIONS = {
    "an end": ((RESULT, ANSWER), "ok"),
    "interrupted": ((RESULT, ANSWER, STOPPED), "incomplete"),
    "interrupted, as text": ((RESULT, ANSWER, STOPPED_TEXT), "incomplete"),
    "interrupted in a call": ((STOPPED_TOOL,), "incomplete"),
    "interrupted, and asked again": ((STOPPED_TOOL, ASKED), "incomplete"),
    "gone on": ((STOPPED_TOOL, ASKED, ANSWER), "ok"),
    "the words in a question": ((RESULT, ANSWER, QUOTED), "ok"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_turn_of_claude_code_after_the_result_needs_one_too(name: str) -> None:
    lines, status = STREAMS[name]
    found = read(CLAUDE_CODE, [{**line, "session_id": "s"} for line in (INIT, *lines)])
    assert found == (status, CUT if status == "incomplete" else set())


@pytest.mark.parametrize("name", SESSIONS)
def test_an_interrupted_session_of_claude_code_has_no_end(name: str) -> None:
    lines, status = SESSIONS[name]
    rows = [
        {**line, "sessionId": "s", "timestamp": AT, "uuid": f"u{n}"} for n, line in enumerate((ASKED, CALL, *lines))
    ]
    assert read(CLAUDE_CODE, rows) == (status, CUT if status == "incomplete" else set())


def gemini(status: str, *after: dict[str, Any]) -> tuple[str, set[str]]:
    call = {"id": "c1", "name": "read", "args": {}, "status": status, "result": "Ann" if status == "success" else None}
    messages = [
        {"id": "1", "type": "user", "content": "Look."},
        {"id": "2", "type": "gemini", "content": "", "toolCalls": [call]},
        *after,
    ]
    session = {"sessionId": "g", "projectHash": "p", "messages": [{**each, "timestamp": AT} for each in messages]}
    return read(GEMINI_CLI, [session])


def test_a_cancelled_request_of_gemini_cli_has_no_end() -> None:
    cancelled = {"id": "3", "type": "info", "content": "Request cancelled."}
    answer = {"id": "4", "type": "gemini", "content": "It is Ann."}
    assert gemini("success", cancelled) == gemini("cancelled") == ("incomplete", CUT)
    assert gemini("cancelled", cancelled, answer) == gemini("success", answer) == ("ok", set())
    assert gemini("success", answer, {**cancelled, "content": "Update available."}) == ("ok", set())


def test_a_turn_of_a_gemini_stream_after_the_result_needs_one_too() -> None:
    init, end = {"type": "init", "session_id": "g", "model": "m"}, {"type": "result", "status": "success"}
    answer = {"type": "message", "role": "assistant", "content": "It is Ann."}
    for lines, status in (
        ((answer, end), "ok"),
        ((answer, end, init, answer), "incomplete"),
        ((answer,), "incomplete"),
    ):
        found = read(GEMINI_CLI, [{**line, "timestamp": AT} for line in (init, *lines)])
        assert found == (status, CUT if status == "incomplete" else set())


def test_a_turn_of_cursor_after_the_result_needs_one_too() -> None:
    init, kind = {"type": "system", "subtype": "init", "model": "m"}, {"type": "tool_call", "call_id": "c"}
    body = {"args": {"path": "a"}}
    began = {**kind, "subtype": "started", "tool_call": {"readToolCall": body}}
    ended = {**kind, "subtype": "completed", "tool_call": {"readToolCall": {**body, "result": {"success": "Ann"}}}}
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "It is Ann."}
    failed = {**end, "is_error": True}
    for lines, status in (
        ((began, ended, end), "ok"),
        ((began, end, ended), "ok"),
        ((began, ended, end, init, end), "ok"),
        ((end, init, began), "incomplete"),
        ((failed, ASKED, began, ended), "incomplete"),
        ((end, init), "incomplete"),
    ):
        found = read(CURSOR, [{**line, "session_id": "s"} for line in (init, ASKED, *lines)])
        assert found == (status, CUT if status == "incomplete" else set()), lines


def part(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": "p", "messageID": "m1", "sessionID": "s", **fields}


def tool(name: str = "read", **state: Any) -> dict[str, Any]:
    return part("tool", callID="c1", tool=name, state={"status": "completed", "input": {}, "output": "Ann", **state})


def step(reason: str) -> dict[str, Any]:
    return part("step-finish", reason=reason, tokens={"input": 1, "output": 1})


START, SAID, CALLED = part("step-start"), part("text", text="It is Ann."), step("tool-calls")
DENIED = tool(status="error", error="The user rejected permission to use this specific tool call.")
PARTS = {
    "ended": ((START, tool(), CALLED, START, SAID, step("stop")), "ok"),
    "without its last end": ((START, tool(), CALLED, START, SAID), "incomplete"),
    "only its last start": ((START, tool(), CALLED, START), "incomplete"),
    "calls, and no answer": ((START, tool(), CALLED), "incomplete"),
    "a failed call, and no answer": ((START, tool(status="error", error="no file"), CALLED), "incomplete"),
    "a refused call": ((START, DENIED, CALLED), "ok"),
    "an answer as a call": ((START, tool("StructuredOutput"), CALLED), "ok"),
    "no steps": ((tool(), SAID), "ok"),
    "a text without a reason": ((START, tool(), CALLED, START, SAID, step("unknown")), "ok"),
    "nothing without a reason": ((START, tool(), CALLED, START, step("unknown")), "incomplete"),
    "nothing with another reason": ((START, tool(), CALLED, START, step("other")), "incomplete"),
    "nothing with an empty reason": ((START, tool(), CALLED, START, step("")), "incomplete"),
    "thoughts without a reason": ((START, part("reasoning", text="Hm."), step("unknown")), "incomplete"),
    "calls without a reason": ((START, SAID, CALLED, START, tool(), step("unknown")), "incomplete"),
    "an answer as a call, without a reason": ((START, tool("StructuredOutput"), step("unknown")), "ok"),
    "nothing, which the model said itself": ((START, tool(), CALLED, START, step("stop")), "ok"),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_run_of_opencode_ends_with_the_end_of_a_step_that_called_nothing(name: str) -> None:
    parts, status = PARTS[name]
    expected = (status, CUT if status == "incomplete" else set())
    events = [{"type": "event", "timestamp": 1, "sessionID": "s", "part": each} for each in parts]
    assert read(OPENCODE, events) == expected
    assert export(parts, created=1, completed=2) == expected


def export(parts: tuple[Any, ...], *later: Any, **times: int) -> tuple[str, set[str]]:
    about = {"id": "m1", "role": "assistant", "modelID": "m", "providerID": "p"}
    messages = [
        {"info": {"id": "m0", "role": "user"}, "parts": [part("text", text="Look.")]},
        {"info": {**about, "time": times}, "parts": list(parts)},
        *({"info": {**about, "id": "m2", "time": {"created": 3, "completed": 4}}, "parts": [each]} for each in later),
    ]
    return read(OPENCODE, [{"info": {"id": "s"}, "messages": messages}])


def test_a_message_of_opencode_that_is_not_completed_has_no_end() -> None:
    assert export((tool(), SAID), created=1) == ("incomplete", CUT)
    assert export((tool(), SAID), SAID, created=1) == ("ok", set())
    assert export((tool(), SAID)) == ("ok", set())
