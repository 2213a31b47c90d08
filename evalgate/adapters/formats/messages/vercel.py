"""Reads messages of the Vercel AI SDK: UI messages with tool parts, and bare lists of tool calls."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, required_text, text
from evalgate.adapters.formats.messages.blocks import add_block, answered, arguments, asked
from evalgate.adapters.formats.messages.message_builder import MessageBuilder
from evalgate.adapters.formats.messages.roles import ROLES

TOOL_PREFIX = "tool-"
TOLD_TOOLS = frozenset({"dynamic-tool", "tool-invocation"})
BLOCK_KINDS = frozenset({"tool-call", "tool-result", "tool-error"})
DONE = frozenset({"output-available", "result"})
DENIED = "output-denied"
FAILED = frozenset({"output-error", DENIED})
SILENT = ("step-start",)
GIVEN = ("input", "args", "rawInput")
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


def read(value: Any) -> list[RawMessage]:
    """One message or a list of them; consecutive bare calls belong to one message."""
    messages = value if type(value) is list else [value]
    said: list[RawMessage] = []
    for number, message in enumerate(messages):
        try:
            recorded = mapping(message, "")
            if "role" in recorded:
                said += read_message(recorded)
            else:
                _add_bare(said, recorded)
        except FieldError as error:
            raise error.under(f"[{number}]") from None
    return said


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One UI message, as several if it holds tool results."""
    role = required_text(recorded.get("role"), "role")
    if role not in ROLES:
        raise FieldError("role", "is none of system, user, assistant")
    spoken = MessageBuilder(RawMessage(ROLES[role]))
    if recorded.get("parts") is None:
        _add_tools(spoken, listing(recorded.get("toolInvocations"), "toolInvocations"))
        spoken.pause()
        spoken.text(text(recorded.get("content"), "content") or None)
        return spoken.messages()
    _add_parts(spoken, listing(recorded["parts"], "parts"))
    return spoken.messages()


def _add_parts(spoken: MessageBuilder, parts: list[Any]) -> None:
    together: list[dict[str, Any]] = []
    for number, value in enumerate(parts):
        try:
            part = mapping(value, "")
            if is_tool_part(part):
                together.append(_tool(part))
                continue
            _add_tools(spoken, together)
            together = []
            if part.get("type") not in SILENT:
                add_block(spoken, part)
        except FieldError as error:
            raise error.under(f"parts[{number}]") from None
    _add_tools(spoken, together)


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
    return kind in TOLD_TOOLS or (kind.startswith(TOOL_PREFIX) and "toolCallId" in part)


def _tool(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "tool-invocation":
        return mapping(part.get("toolInvocation"), "toolInvocation")
    return part


def _add_tools(spoken: MessageBuilder, tools: list[Any]) -> None:
    """Adds adjacent tool parts: all calls first, then their results."""
    if not tools:
        return
    spoken.pause()
    answers = []
    for value in tools:
        tool = mapping(value, "")
        kind = text(tool.get("type"), "type") or ""
        name = required_text(tool.get("toolName") or kind.removeprefix(TOOL_PREFIX), "toolName")
        call_id = text(tool.get("toolCallId"), "toolCallId") or None
        given = next((tool[key] for key in GIVEN if tool.get(key) is not None), None)
        spoken.call(ToolRequest(call_id, name, arguments(given)))
        answers += _answer(tool, call_id, name)
    for found in answers:
        spoken.answer(found)


def _answer(tool: dict[str, Any], call_id: str | None, name: str) -> list[ToolResult]:
    state = text(tool.get("state"), "state")
    if state in FAILED:
        why = text(tool.get("errorText"), "errorText")
        if why is None and state == DENIED:
            approval = mapping(tool.get("approval"), "approval")
            why = text(approval.get("reason"), "approval.reason") or "the use of the tool was denied"
        return [ToolResult(call_id, name, why, is_error=True)]
    if state in DONE:
        return [ToolResult(call_id, name, tool["output"] if "output" in tool else tool.get("result"))]
    return []


def _add_bare(said: list[RawMessage], recorded: dict[str, Any]) -> None:
    if "output" in recorded or "result" in recorded or "error" in recorded:
        if not said or said[-1].role != "tool":
            said.append(RawMessage("tool"))
        said[-1].answers.append(answered(recorded))
        return
    if not said or said[-1].role != "assistant":
        said.append(RawMessage("assistant"))
    said[-1].calls.append(asked(recorded))
