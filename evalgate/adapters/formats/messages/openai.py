"""Reads messages of the OpenAI chat shape, which chat traces and tau-bench use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.call_arguments import Arguments, read_arguments
from evalgate.adapters.formats.core.builder.conversation import Conversation
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, required_text, text
from evalgate.adapters.formats.core.usage import finish_reason

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Role, ToolCall

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def read_conversation(messages: list[Any], path: str) -> Conversation:
    """The conversation of all messages in order; raises FieldError naming the invalid field."""
    conversation = Conversation()
    for number, message in enumerate(messages):
        try:
            add_message(conversation, message)
        except FieldError as error:
            raise error.with_prefix(f"{path}[{number}]") from None
    return conversation


def add_message(conversation: Conversation, value: Any) -> None:
    """Adds one message; tool calls are joined with the results that follow."""
    recorded = value if type(value) is dict else mapping(value, "")
    role = _read_role(recorded.get("role"))
    content, parts = recorded.get("content"), None
    if content is not None and type(content) is not str:
        content, parts = read_content(content, "content")
    if role == "tool":
        call_id = text(recorded.get("tool_call_id"), "tool_call_id")
        message, _ = conversation.add_result(call_id, text(recorded.get("name"), "name"), content)
        message["parts"] = parts
        return
    message = conversation.add_message(role, content)
    message["parts"] = parts
    if len(recorded) > len(("role", "content")) or "content" not in recorded:
        _add_optional_fields(conversation, message, recorded)


def _add_optional_fields(conversation: Conversation, message: Message, recorded: dict[str, Any]) -> None:
    """Sets fields that few messages have."""
    message["name"] = text(recorded.get("name"), "name")
    if message["role"] != "assistant":
        return
    if message["content"] is None:
        message["content"] = text(recorded.get("refusal"), "refusal")
    message["reasoning"] = text(recorded.get("reasoning_content"), "reasoning_content")
    message["finish_reason"] = finish_reason(text(recorded.get("finish_reason"), "finish_reason"))
    _add_calls(conversation, message, recorded)


def _read_role(value: Any) -> Role:
    role = ROLES.get(value) if type(value) is str else None
    if role is None:
        required_text(value, "role")
        raise FieldError("role", "is not one of system, user, assistant, tool")
    return role


def _add_calls(conversation: Conversation, message: Message, recorded: dict[str, Any]) -> None:
    for number, call in enumerate(listing(recorded.get("tool_calls"), "tool_calls")):
        try:
            _add_call(conversation, message, mapping(call, ""))
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
    if recorded.get("function_call") is not None:
        legacy = mapping(recorded["function_call"], "function_call")
        name = required_text(legacy.get("name"), "function_call.name")
        conversation.add_call(
            message, None, name, _read_call_arguments(legacy.get("arguments"), "function_call.arguments")
        )


def _add_call(conversation: Conversation, message: Message, call: dict[str, Any]) -> ToolCall:
    """Adds a function call; some recorders omit the `function` object around name and arguments."""
    path, key = "", "arguments"
    target = call
    if call.get("function") is not None:
        path, target = "function.", mapping(call["function"], "function")
    elif call.get("custom") is not None:
        path, key, target = "custom.", "input", mapping(call["custom"], "custom")
    name = required_text(target.get("name"), f"{path}name")
    arguments = _read_call_arguments(target.get(key), f"{path}{key}")
    return conversation.add_call(message, text(call.get("id"), "id") or None, name, arguments)


def _read_call_arguments(value: Any, path: str) -> Arguments:
    if value is not None and type(value) is not str and type(value) is not dict:
        raise FieldError(path, "is neither an object nor text")
    return read_arguments(value)
