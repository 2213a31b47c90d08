"""Builds the messages of a conversation that `glance_at` found plain: nothing is left to check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import BLANK_CALL, BLANK_MESSAGE, failed
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.usage.usage_fields import milliseconds
from evalgate.adapters.formats.native.messages import result_content

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, ToolCall


def read_plain(recorded: list[dict[str, Any]]) -> tuple[list[Message], list[ToolCall]]:
    """The same messages and calls as `messages.read_conversation` builds."""
    messages: list[Message] = []
    calls: list[ToolCall] = []
    waiting: dict[str | None, ToolCall] = {}
    turn = step = 0
    for said in recorded:
        role, content = said["role"], said["content"]
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
            _answer(message, waiting.pop(said.get("tool_call_id")), said)
            continue
        if type(content) is not str and content is not None:
            message["content"], message["parts"] = read_content(content, "content")
        if role == "assistant":
            step += 1
            if "tool_calls" in said:
                for call in _called(message, said["tool_calls"], len(calls), step):
                    waiting[call["id"]] = call
                    calls.append(call)
    return messages, calls


def _called(message: Message, asked: list[dict[str, Any]], first: int, step: int) -> list[ToolCall]:
    """The calls that a message requests."""
    references = message["tool_calls"]
    calls: list[ToolCall] = []
    for index, wanted in enumerate(asked, first):
        call_id, name, arguments = wanted.get("id"), wanted["name"], wanted["arguments"]
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


def _answer(message: Message, call: ToolCall, said: dict[str, Any]) -> None:
    """Joins a result with its call."""
    message["tool_call_id"] = call["id"]
    message["tool_name"] = said.get("name") or call["name"]
    call["status"] = "ok"
    content = said["content"]
    call["result"] = call["result_text"] = content
    if type(content) is not str:
        message["content"], message["parts"] = result_content(content)
        call["result_text"] = message["content"]
        if type(content) is not dict:
            call["result"] = message["content"]
    call["exit_code"] = said.get("exit_code")
    seconds = said.get("duration_seconds")
    if seconds is not None:
        call["duration_ms"] = milliseconds(float(seconds))
    if said.get("is_error"):
        failed(call)
