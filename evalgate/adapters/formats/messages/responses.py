"""Reads items of OpenAI's Responses API: messages, calls and their outputs in one flat list."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError, mapping, required_text, text
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import arguments, first_of, joined, result

CALL = "_call"
OUTPUT = "_call_output"
NAMED_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
SILENT = frozenset(
    {"item_reference", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "compaction"}
)
RESULT_KEYS = ("output", "outputs", "results", "error")
FAILED = ("failed", "incomplete")


def is_shape(value: Any) -> bool:
    """True for an item that is no plain message: a call, an output, reasoning, a typed message."""
    if type(value) is not dict or type(value.get("type")) is not str:
        return False
    kind = value["type"]
    if kind == "message":
        return roles.is_shape(value)
    if kind == "function_call":
        return "call_id" in value
    if kind == "reasoning":
        return "summary" in value or "encrypted_content" in value
    return kind.endswith((CALL, OUTPUT)) or kind in SILENT


def read(value: Any) -> list[RawMessage]:
    """A list of items, or one; the items of one response of the model become one message."""
    items = value if type(value) is list else [value]
    said: list[RawMessage] = []
    for number, item in enumerate(items):
        try:
            extend(said, mapping(item, ""))
        except FieldError as error:
            raise error.under(f"[{number}]") from None
    return said


def extend(said: list[RawMessage], item: dict[str, Any]) -> None:
    """Adds one item to the messages; raises FieldError."""
    kind = text(item.get("type"), "type") or "message"
    if kind == "message":
        _add_message(said, item)
    elif kind == "reasoning":
        _open(said, renew=_has_spoken).reasoning = _thought(item)
    elif kind.endswith(OUTPUT):
        _answers(said).append(_output(item))
    elif kind.endswith(CALL):
        asked = _call(item, kind.removesuffix(CALL), is_named=kind in NAMED_CALLS)
        _open(said).calls.append(asked)
        if kind not in ("function_call", "custom_tool_call"):
            _add_own_result(said, item, kind, asked)
    elif kind not in SILENT:
        raise FieldError("type", "is no item of a response")


def _add_message(said: list[RawMessage], item: dict[str, Any]) -> None:
    spoken = roles.read_message(item)
    last = said[-1] if said else None
    is_thought = last is not None and last.role == "assistant" and not _has_spoken(last)
    if is_thought and last is not None and spoken[0].role == "assistant":
        spoken[0].reasoning = last.reasoning or spoken[0].reasoning
        said.pop()
    said += spoken


def _has_spoken(said: RawMessage) -> bool:
    return bool(said.content or said.calls or said.parts)


def _open(said: list[RawMessage], *, renew: Any = None) -> RawMessage:
    """The last message if it is the assistant's and not closed, else a new one."""
    if not said or said[-1].role != "assistant" or (renew is not None and renew(said[-1])):
        said.append(RawMessage("assistant"))
    return said[-1]


def _answers(said: list[RawMessage]) -> list[ToolResult]:
    if not said or said[-1].role != "tool":
        said.append(RawMessage("tool"))
    return said[-1].answers


def _thought(item: dict[str, Any]) -> str | None:
    for key in ("summary", "content"):
        found = item.get(key)
        words = joined(found) if type(found) is list else None
        if words:
            return words
    return None


def _call(item: dict[str, Any], tool: str, *, is_named: bool) -> ToolRequest:
    call_id = text(first_of(item, ("call_id", "id")), "call_id") or None
    if is_named:
        name = required_text(item.get("name"), "name")
        return ToolRequest(call_id, name, arguments(first_of(item, ("arguments", "input"))))
    known = {
        key: item[key] for key in ("action", "code", "queries", "operation") if item.get(key) is not None
    }
    action = known.get("action")
    return ToolRequest(call_id, tool, action if len(known) == 1 and type(action) is dict else known or None)


def _output(item: dict[str, Any]) -> ToolResult:
    content, has_failed = result(item.get("output"))
    call_id = text(first_of(item, ("call_id", "id")), "call_id") or None
    return ToolResult(call_id, None, content, has_failed or item.get("status") in FAILED)


def _add_own_result(said: list[RawMessage], item: dict[str, Any], kind: str, asked: ToolRequest) -> None:
    """Adds the result of a tool that ran at the provider; it may have a status but no content."""
    is_over = item.get("status") in ("completed", "failed", "incomplete") or kind == "mcp_call"
    if not is_over or kind in ("local_shell_call", "shell_call", "computer_call", "apply_patch_call"):
        return
    content, _ = result(first_of(item, RESULT_KEYS))
    has_failed = item.get("status") in FAILED or item.get("error") is not None
    _answers(said).append(ToolResult(asked.id, asked.name, content, has_failed))
