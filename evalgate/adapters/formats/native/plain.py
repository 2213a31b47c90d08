"""Builds the messages of a conversation that `glance_at` found plain: nothing is left to check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import BLANK_CALL, BLANK_MESSAGE, mark_failed
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.usage.usage_fields import to_milliseconds
from evalgate.adapters.formats.native.messages import read_result_content

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, ToolCall


def read_plain(recorded: list[dict[str, Any]]) -> tuple[list[Message], list[ToolCall]]:
    """The same messages and calls as `messages.read_conversation` builds."""
    messages: list[Message] = []
    calls: list[ToolCall] = []
    waiting: dict[str | None, ToolCall] = {}
    turn = step = 0
    for raw in recorded:
        role, content = raw["role"], raw["content"]
        turn += role == "user"
        message: Message = {
            **BLANK_MESSAGE,
            "index": len(messages),
            "turn": turn,
            "role": role,
            "content": content,
            "tool_calls": [],
        }
        messages.append(message)
        if role == "tool":
            _join_result(message, waiting.pop(raw.get("tool_call_id")), raw)
            continue
        if type(content) is not str and content is not None:
            message["content"], message["parts"] = read_content(content, "content")
        if role == "assistant":
            step += 1
            if "tool_calls" in raw:
                for call in _build_calls(message, raw["tool_calls"], len(calls), step):
                    waiting[call["id"]] = call
                    calls.append(call)
    return messages, calls


def _build_calls(message: Message, requests: list[dict[str, Any]], first: int, step: int) -> list[ToolCall]:
    """The calls that a message requests."""
    references = message["tool_calls"]
    calls: list[ToolCall] = []
    for index, request in enumerate(requests, first):
        call_id, name, arguments = request.get("id"), request["name"], request["arguments"]
        references.append({"id": call_id, "name": name, "arguments": arguments})
        calls.append(
            {
                **BLANK_CALL,
                "index": index,
                "turn": message["turn"],
                "step": step,
                "id": call_id,
                "name": name,
                "arguments": arguments,
            }
        )
    return calls


def _join_result(message: Message, call: ToolCall, raw: dict[str, Any]) -> None:
    """Joins a result with its call."""
    message["tool_call_id"] = call["id"]
    message["tool_name"] = raw.get("name") or call["name"]
    call["status"] = "ok"
    content = raw["content"]
    call["result"] = call["result_text"] = content
    if type(content) is not str:
        message["content"], message["parts"] = read_result_content(content)
        call["result_text"] = message["content"]
        if type(content) is not dict:
            call["result"] = message["content"]
    call["exit_code"] = raw.get("exit_code")
    seconds = raw.get("duration_seconds")
    if seconds is not None:
        call["duration_ms"] = to_milliseconds(float(seconds))
    if raw.get("is_error"):
        mark_failed(call)
