"""Reads messages of the Vercel AI SDK: UI messages with tool parts, and bare lists of tool calls."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, prefix_errors, required_text, text
from evalgate.adapters.formats.messages.blocks import (
    MessageBuilder,
    add_block,
    check_arguments,
    read_request,
    read_result,
)
from evalgate.adapters.formats.messages.roles import ROLES

TOOL_PREFIX = "tool-"
TOOL_TYPES = frozenset({"dynamic-tool", "tool-invocation"})
BLOCK_KINDS = frozenset({"tool-call", "tool-result", "tool-error"})
DONE = frozenset({"output-available", "result"})
DENIED = "output-denied"
FAILED = frozenset({"output-error", DENIED})
IGNORED_TYPES = ("step-start",)
INPUT_KEYS = ("input", "args", "rawInput")
"""Keys of a tool's input; invalid input is under `rawInput`."""


def is_shape(value: Any) -> bool:
    """True for a message with typed `parts` or `toolInvocations`, or a bare call or result."""
    if type(value) is not dict:
        return False
    role = value.get("role")
    if role is None:
        return type(value.get("toolCallId")) is str and type(value.get("toolName")) is str
    if type(role) is not str or role not in ROLES:
        return False
    if type(value.get("toolInvocations")) is list and "parts" not in value:
        return True
    parts = value.get("parts")
    return type(parts) is list and bool(parts) and all(_is_part(part) for part in parts)


def read_messages(value: Any) -> list[RawMessage]:
    """One message or a list of them; consecutive bare calls belong to one message."""
    messages = value if type(value) is list else [value]
    messages_read: list[RawMessage] = []
    for number, message in enumerate(messages):
        with prefix_errors("", number):
            recorded = mapping(message, "")
            if "role" in recorded:
                messages_read += read_message(recorded)
            else:
                _add_bare_item(messages_read, recorded)
    return messages_read


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One UI message, as several if it holds tool results."""
    role = required_text(recorded.get("role"), "role")
    if role not in ROLES:
        raise FieldError("role", "is not one of system, user, assistant")
    builder = MessageBuilder(RawMessage(ROLES[role]))
    if recorded.get("parts") is None:
        _add_tools(builder, listing(recorded.get("toolInvocations"), "toolInvocations"))
        builder.start_after_results()
        words = text(recorded.get("content"), "content")
        builder.add_text(words or (None if recorded.get("toolInvocations") else words))
        return builder.build_messages()
    _add_parts(builder, listing(recorded["parts"], "parts"))
    return builder.build_messages()


def _add_parts(builder: MessageBuilder, parts: list[Any]) -> None:
    tools: list[dict[str, Any]] = []
    for number, value in enumerate(parts):
        with prefix_errors("parts", number):
            part = mapping(value, "")
            if is_tool_part(part):
                tools.append(_get_tool(part))
                continue
            _add_tools(builder, tools)
            tools = []
            if part.get("type") not in IGNORED_TYPES:
                add_block(builder, part)
    _add_tools(builder, tools)


def _is_part(value: Any) -> bool:
    """Whether it is a Vercel part: text is under `text`; GenAI conventions put it under `content`."""
    if type(value) is not dict or type(value.get("type")) is not str:
        return False
    kind = value["type"]
    if kind in ("text", "reasoning"):
        return "text" in value
    return is_tool_part(value) or kind in ("file", "step-start") or kind.startswith(("source-", "data-"))


def is_tool_part(part: dict[str, Any]) -> bool:
    """True for a part with a tool call."""
    kind = part.get("type")
    if type(kind) is not str or kind in BLOCK_KINDS:
        return False
    return kind in TOOL_TYPES or (kind.startswith(TOOL_PREFIX) and "toolCallId" in part)


def _get_tool(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "tool-invocation":
        return mapping(part.get("toolInvocation"), "toolInvocation")
    return part


def _add_tools(builder: MessageBuilder, tools: list[Any]) -> None:
    """Adds adjacent tool parts: all calls first, then their results."""
    if not tools:
        return
    builder.start_after_results()
    answers = []
    for value in tools:
        tool = mapping(value, "")
        kind = text(tool.get("type"), "type") or ""
        name = required_text(tool.get("toolName") or kind.removeprefix(TOOL_PREFIX), "toolName")
        call_id = text(tool.get("toolCallId"), "toolCallId") or None
        given = next((tool[key] for key in INPUT_KEYS if tool.get(key) is not None), None)
        builder.add_call(ToolRequest(call_id, name, check_arguments(given)))
        answers += _read_results(tool, call_id, name)
    for found in answers:
        builder.add_result(found)


def _read_results(tool: dict[str, Any], call_id: str | None, name: str) -> list[ToolResult]:
    state = text(tool.get("state"), "state")
    if state in FAILED:
        reason = text(tool.get("errorText"), "errorText")
        if reason is None and state == DENIED:
            approval = mapping(tool.get("approval"), "approval")
            reason = text(approval.get("reason"), "approval.reason") or "the use of the tool was denied"
        return [ToolResult(call_id, name, reason, is_error=True)]
    if state in DONE:
        return [ToolResult(call_id, name, tool["output"] if "output" in tool else tool.get("result"), is_error=False)]
    return []


def _add_bare_item(messages: list[RawMessage], recorded: dict[str, Any]) -> None:
    if "output" in recorded or "result" in recorded or "error" in recorded:
        if not messages or messages[-1].role != "tool":
            messages.append(RawMessage("tool"))
        messages[-1].answers.append(read_result(recorded))
        return
    if not messages or messages[-1].role != "assistant":
        messages.append(RawMessage("assistant"))
    messages[-1].calls.append(read_request(recorded))
