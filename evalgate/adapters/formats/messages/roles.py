"""Reads messages with a `role` and a `content` of text or typed blocks: OpenAI, Anthropic, LangChain, Vercel.

All of them put tool calls in the content or in a separate list; this reader takes both, each call once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, required_text, text
from evalgate.adapters.formats.messages.blocks import (
    MessageBuilder,
    check_arguments,
    parse_result,
    read_blocks,
    read_each,
)

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
BODY = frozenset({"content", "tool_calls", "function_call"})
TOOL_BLOCKS = ("tool_result", "tool-result", "tool-error")


def is_shape(value: Any) -> bool:
    """True for a message with a known role and a body."""
    if type(value) is not dict or BODY.isdisjoint(value):
        return False
    role = value.get("role")
    return type(role) is str and role in ROLES


def read_messages(value: Any) -> list[RawMessage]:
    """One message or a list of them; raises FieldError."""
    return read_each(value, read_message)


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One message, as several if it holds tool results."""
    name = required_text(recorded.get("role"), "role")
    if name not in ROLES:
        raise FieldError("role", "is not one of system, user, assistant, tool")
    return read_message_as(ROLES[name], recorded)


def read_message_as(role: Role, recorded: dict[str, Any]) -> list[RawMessage]:
    """One message, read with the given role."""
    content = recorded.get("content")
    if role == "tool" and not _has_results(content):
        return [RawMessage("tool", answers=[_read_result(recorded)])]
    builder = MessageBuilder(
        RawMessage(
            role,
            name=text(recorded.get("name"), "name"),
            model=text(recorded.get("model"), "model"),
            finish_reason=_read_finish_reason(recorded),
        )
    )
    if role == "assistant":
        builder.add_reasoning(_read_reasoning(recorded))
    if type(content) is list:
        read_blocks(builder, content, "content")
    else:
        builder.add_text(text(content, "content"))
    if role == "assistant":
        if content is None:
            builder.add_text(text(recorded.get("refusal"), "refusal"))
        _add_calls(builder, recorded)
    return builder.build_messages()


def read_request(value: Any) -> ToolRequest:
    """The tool call of an entry of `tool_calls`, with or without `function` around name and arguments."""
    call = mapping(value, "")
    target, path = call, ""
    keys: tuple[str, ...] = ("arguments", "args")
    for wrapper, argument_keys in (("function", ("arguments",)), ("custom", ("input",))):
        if call.get(wrapper) is not None:
            target, path, keys = mapping(call[wrapper], wrapper), f"{wrapper}.", argument_keys
            break
    name = required_text(target.get("name"), f"{path}name")
    recorded = next((target[key] for key in keys if target.get(key) is not None), None)
    return ToolRequest(text(call.get("id"), "id") or None, name, check_arguments(recorded, f"{path}{keys[0]}"))


def _read_result(recorded: dict[str, Any]) -> ToolResult:
    content, has_failed = parse_result(recorded.get("content"))
    call_id = text(recorded.get("tool_call_id"), "tool_call_id") or None
    name = text(recorded.get("name"), "name") or None
    return ToolResult(call_id, name, content, has_failed or recorded.get("status") == "error")


def _has_results(content: Any) -> bool:
    if type(content) is not list or not content or type(content[0]) is not dict:
        return False
    kind = content[0].get("type")
    return type(kind) is str and kind.endswith(TOOL_BLOCKS)


def _read_finish_reason(recorded: dict[str, Any]) -> str | None:
    for key in ("finish_reason", "stop_reason"):
        if recorded.get(key) is not None:
            return text(recorded[key], key)
    return None


def _read_reasoning(recorded: dict[str, Any]) -> str | None:
    found = recorded.get("reasoning_content")
    return found if type(found) is str else None


def _add_calls(builder: MessageBuilder, recorded: dict[str, Any]) -> None:
    extra = recorded.get("additional_kwargs")
    listed = recorded.get("tool_calls") or (extra.get("tool_calls") if type(extra) is dict else None)
    calls = [
        _read_request_at(f"tool_calls[{number}]", call) for number, call in enumerate(listing(listed, "tool_calls"))
    ]
    builder.add_listed_calls(calls)
    if recorded.get("function_call") is not None:
        legacy = mapping(recorded["function_call"], "function_call")
        builder.add_listed_calls(
            [_read_request_at("function_call", {"name": legacy.get("name"), "arguments": legacy.get("arguments")})]
        )


def _read_request_at(path: str, value: Any) -> ToolRequest:
    try:
        return read_request(value)
    except FieldError as error:
        raise error.with_prefix(path) from None
