"""Events that coding agents and providers began to write in 2026: each call once, each result at its call."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.models.trace.trace import Trace, TraceLocation

WHEN = "2026-09-01T10:00:00.000Z"
META = {"timestamp": WHEN, "type": "session_meta", "payload": {"id": "019b", "timestamp": WHEN, "cwd": "/w"}}
ARGUMENTS = {"id": 7}


def read(name: str, document: Any) -> Trace:
    known = detect.find_format(name)
    assert known is not None
    [record] = known.reader.split(document)
    found = read_record(known.reader, record, TraceLocation("t.jsonl"), "t.jsonl")
    assert isinstance(found, Trace), found
    return found


def calls(trace: Trace) -> list[tuple[str, Any, str | None]]:
    return [(call["name"], call["arguments"], call["result_text"]) for call in trace.tool_calls]


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": WHEN, "type": "response_item", "payload": {"type": kind, **fields}}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": WHEN, "type": "event_msg", "payload": {"type": kind, **fields}}


def rollout(*lines: dict[str, Any]) -> Trace:
    asked = item("message", role="user", content=[{"type": "input_text", "text": "Clean up."}])
    answered = item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    return read("codex", [META, asked, *lines, answered])


MCP = {"call_id": "c1", "invocation": {"server": "crm", "tool": "delete_user", "arguments": ARGUMENTS}}
RETURNED = {"result": {"Ok": {"content": [{"type": "text", "text": "gone"}], "isError": False}}}
BEGIN, END = event("mcp_tool_call_begin", **MCP), event("mcp_tool_call_end", **MCP, **RETURNED)


def asked_for(name: str) -> dict[str, Any]:
    return item("function_call", name=name, arguments='{"id": 7}', call_id="c1")


OUTPUT = item("function_call_output", call_id="c1", output="gone")


def test_a_call_of_an_mcp_server_that_no_item_records_is_read_from_its_events():
    trace = rollout(BEGIN, END)
    assert (calls(trace), trace.gaps) == ([("mcp__crm__delete_user", ARGUMENTS, "gone")], {})
    assert calls(rollout(END)) == calls(trace)


def test_the_events_of_a_recorded_call_are_its_execution():
    trace = rollout(asked_for("mcp__crm__delete_user"), BEGIN, END, OUTPUT)
    assert (calls(trace), trace.gaps) == ([("mcp__crm__delete_user", ARGUMENTS, "gone")], {})


def test_what_a_server_ran_under_another_name_than_was_asked_for_is_a_call_too():
    trace = rollout(asked_for("exec"), BEGIN, END, OUTPUT)
    assert calls(trace) == [("exec", ARGUMENTS, "gone"), ("mcp__crm__delete_user", ARGUMENTS, "gone")]


def test_a_call_that_the_client_runs_is_read_with_what_it_returned():
    request = event("dynamic_tool_call_request", callId="d", turnId="t", tool="delete_user", arguments=ARGUMENTS)
    answer = event(
        "dynamic_tool_call_response", call_id="d", content_items=[{"type": "text", "text": "x"}], success=True
    )
    assert calls(rollout(request, answer)) == [("delete_user", ARGUMENTS, "x")]
    assert calls(rollout(request))[0][:2] == ("delete_user", ARGUMENTS)


def test_a_message_of_another_agent_is_context_and_no_call():
    said = [{"type": "input_text", "text": "It is clean."}]
    trace = rollout(item("agent_message", author="a", recipient="b", content=said))
    assert (calls(trace), trace.gaps, trace.turn_count) == ([], {}, 1)
    assert "It is clean." in [message["content"] for message in trace.messages]


def responses(*items: dict[str, Any]) -> Trace:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
    return read("openai-responses", [{"role": "user", "content": "Clean up."}, *items, answer])


@pytest.mark.parametrize("call_id", [None, "s1"])
def test_what_a_search_for_tools_found_is_its_result(call_id):
    search = {
        "type": "tool_search_call",
        "id": "tsc",
        "call_id": call_id,
        "status": "completed",
        "arguments": {"q": "x"},
    }
    found = {
        "type": "tool_search_output",
        "id": "tso",
        "call_id": call_id,
        "status": "completed",
        "tools": [{"name": "f"}],
    }
    trace = responses(search, found)
    assert [(call["name"], call["arguments"]) for call in trace.tool_calls] == [("tool_search", {"q": "x"})]
    assert trace.gaps == {}
    assert trace.tool_calls[0]["status"] != "missing"


def test_what_a_program_of_the_provider_printed_is_its_result():
    call = {"type": "program_call", "id": "p", "call_id": "c", "status": "completed", "arguments": "{}"}
    trace = responses(
        call, {"type": "program_output", "id": "o", "call_id": "c", "status": "completed", "result": "42"}
    )
    assert (calls(trace), trace.gaps) == ([("program", {}, "42")], {})


def test_a_tool_of_a_provider_has_the_name_that_its_item_gives_it():
    call = {
        "type": "code_interpreter_call",
        "id": "x",
        "name": "code_execution",
        "arguments": '{"code": "1"}',
        "call_id": "",
    }
    assert [(name, arguments) for name, arguments, _ in calls(responses(call))] == [("code_execution", {"code": "1"})]


def test_a_logged_request_and_its_completion_are_one_conversation():
    request = {"id": "c1", "type": "function", "function": {"name": "delete_user", "arguments": '{"id": 7}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [request]}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    response = {"model": "m", "choices": [{"finish_reason": "tool_calls", "message": message}], "usage": usage}
    log = {"messages": [{"role": "user", "content": "Clean up."}], "response": response, "cost": 0.5, "latency_sec": 2}
    [trace] = [read("openai-chat", log)]
    assert [(name, arguments) for name, arguments, _ in calls(trace)] == [("delete_user", ARGUMENTS)]
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.usage["total_tokens"], trace.model) == (
        0.5,
        2000,
        13,
        "m",
    )


@pytest.mark.parametrize("kind", ["frame-link", "relocated", "started"])
def test_lines_of_settings_of_claude_code_are_known(kind):
    session = {"sessionId": "s", "timestamp": WHEN}
    lines = [
        {**session, "type": "user", "message": {"role": "user", "content": "Clean up."}},
        {**session, "type": kind, "key": "v2", "newCwd": "/w"},
        {
            **session,
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        },
    ]
    trace = read("claude-code", lines)
    assert trace.gaps == {}
    assert [warning["code"] for warning in trace.warnings if warning["code"] == "unknown_field"] == []
