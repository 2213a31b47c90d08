"""Recordings of a call that was executed otherwise than the model asked for, in the formats that record both."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hostile.suite_edits import trace

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED = {"order": 7}


def list_recordings(ran: str, arguments: Any = None) -> Iterator[tuple[str, Any]]:
    """Names of formats, and traces in which the model asks for `look` and `ran` is executed.

    `arguments` are those of the execution, in the formats that record them; by default those that were asked for.
    """
    executed = ASKED if arguments is None else arguments
    yield "otlp", otlp(ran, json.dumps(executed))
    yield "openhands", openhands(ran, executed)
    if arguments is None:
        yield "native", native(ran)
        yield "openai-chat", openai_chat(ran)
        yield "adk", adk(ran)
        yield "pydantic-ai", pydantic_ai(ran)
    else:
        yield "langfuse", langfuse(executed)


def native(ran: str) -> Any:
    record: Any = deepcopy(trace("done", tools=("look",)))
    record["messages"][2]["name"] = ran
    return record


def openai_chat(ran: str) -> Any:
    request = {"id": "c0", "type": "function", "function": {"name": "look", "arguments": json.dumps(ASKED)}}
    return {
        "messages": [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": None, "tool_calls": [request]},
            {"role": "tool", "tool_call_id": "c0", "name": ran, "content": "done"},
            {"role": "assistant", "content": "done"},
        ]
    }


def otlp(ran: str, arguments: str, exchanges: Any = None) -> Any:
    """Two model calls, each with its messages and its answer, and between them the span of a tool."""
    call = {"type": "tool_call", "id": "c1", "name": "look", "arguments": ASKED}
    asked = {"role": "assistant", "parts": [call], "finish_reason": "tool_call"}
    user = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "ok"}]}
    end = {"role": "assistant", "parts": [{"type": "text", "content": "done"}], "finish_reason": "stop"}
    first, last = exchanges or [([user], asked), ([user, asked, result], end)]
    spans = [
        _span(1, 0, 0, {"operation.name": "invoke_agent"}),
        _span(2, 1, 1000, _chat(*first)),
        _span(3, 1, 3000, _tool(ran, arguments)),
        _span(4, 1, 5000, _chat(*last)),
    ]
    return {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]
    }


def _chat(messages: list[Any], answer: Any) -> dict[str, str]:
    return {
        "operation.name": "chat",
        "request.model": "m",
        "input.messages": json.dumps(messages),
        "output.messages": json.dumps([answer]),
    }


def _tool(name: str, arguments: str) -> dict[str, str]:
    return {
        "operation.name": "execute_tool",
        "tool.name": name,
        "tool.call.id": "c1",
        "tool.call.arguments": arguments,
    }


def _span(number: int, parent: int, at: int, facts: dict[str, str]) -> dict[str, Any]:
    attributes = [{"key": f"gen_ai.{key}", "value": {"stringValue": value}} for key, value in facts.items()]
    begin = 17 * 10**17 + at
    return {
        "traceId": "0" * 31 + "1",
        "spanId": f"{number:016d}",
        "parentSpanId": f"{parent:016d}" if parent else "",
        "name": facts["operation.name"],
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 500),
        "attributes": attributes,
    }


def langfuse(arguments: Any) -> Any:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": json.dumps(ASKED)}}
    asked = {"role": "assistant", "content": "", "tool_calls": [call]}
    user = {"role": "user", "content": "hi"}
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    seen = [
        ("AGENT", "root", None, None, None),
        ("GENERATION", "g1", "root", [user], asked),
        ("TOOL", "look", "root", arguments, "ok"),
        ("GENERATION", "g2", "root", [user, asked, result], {"role": "assistant", "content": "done"}),
    ]
    observations = [
        {
            "id": name,
            "traceId": "t1",
            "parentObservationId": parent,
            "type": kind,
            "name": name,
            "startTime": f"2026-11-20T22:41:0{number}.000Z",
            "endTime": f"2026-11-20T22:41:0{number or 9}.500Z",
            "level": "DEFAULT",
            "model": "m" if kind == "GENERATION" else None,
            "input": json.dumps(given),
            "output": json.dumps(output),
        }
        for number, (kind, name, parent, given, output) in enumerate(seen)
    ]
    return {"trace": {"id": "t1", "name": "x", "timestamp": "2026-11-20T22:41:00.000Z"}, "observations": observations}


def adk(ran: str) -> Any:
    parts: list[tuple[str, str, Any]] = [
        ("user", "user", {"text": "hi"}),
        ("root", "model", {"function_call": {"id": "c1", "name": "look", "args": ASKED}}),
        ("root", "user", {"function_response": {"id": "c1", "name": ran, "response": {"result": "ok"}}}),
        ("root", "model", {"text": "done"}),
    ]
    events = [
        {
            "invocation_id": "i-1",
            "author": author,
            "timestamp": 1767600000.0 + number,
            "content": {"role": role, "parts": [part]},
            "actions": {"state_delta": {}},
        }
        for number, (author, role, part) in enumerate(parts)
    ]
    return {"id": "s-1", "app_name": "shop", "user_id": "u", "state": {}, "events": events}


def pydantic_ai(ran: str) -> Any:
    call = {"part_kind": "tool-call", "tool_name": "look", "args": ASKED, "tool_call_id": "t1"}
    result = {"part_kind": "tool-return", "tool_name": ran, "content": "ok", "tool_call_id": "t1"}
    return [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
        {"kind": "response", "parts": [call], "model_name": "m"},
        {"kind": "request", "parts": [result]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "done"}], "model_name": "m"},
    ]


def openhands(ran: str, arguments: Any) -> Any:
    asked = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": json.dumps({"path": "a"})}}
    choice = {"finish_reason": "tool_calls", "message": {"content": "", "tool_calls": [asked]}}
    response = {"id": "r1", "model": "m", "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    made = {"function_name": ran, "tool_call_id": "c1", "model_response": response}
    path = "a" if arguments == ASKED else "b"
    return [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "hi"}},
        {"id": 1, "source": "agent", "action": "read", "args": {"path": path}, "tool_call_metadata": made},
        {"id": 2, "source": "agent", "observation": "read", "cause": 1, "content": "ok", "tool_call_metadata": made},
        {"id": 3, "source": "agent", "action": "message", "args": {"content": "done"}},
    ]
