"""Reads messages with a `role` and a `content` of text or typed blocks: OpenAI, Anthropic, LangChain, Vercel.

All of them put tool calls in the content or in a separate list; `read_message` takes both, each call once. Chat traces
of OpenAI's shape are added to a conversation without a step between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    Arguments,
    Conversation,
    RawMessage,
    ToolRequest,
    ToolResult,
    read_arguments,
)
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, required_text, text
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.messages.blocks import (
    MessageBuilder,
    check_arguments,
    parse_result,
    read_blocks,
    read_each,
)

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, Role, ToolCall

CHAT_ROLES: dict[str, Role] = {
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
    _add_chat_calls(conversation, message, recorded)


def _read_role(value: Any) -> Role:
    role = CHAT_ROLES.get(value) if type(value) is str else None
    if role is None:
        required_text(value, "role")
        raise FieldError("role", "is not one of system, user, assistant, tool")
    return role


def _add_chat_calls(conversation: Conversation, message: Message, recorded: dict[str, Any]) -> None:
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
    status = recorded.get("status")
    is_error = True if has_failed or status == "error" else False if status == "success" else None
    return ToolResult(call_id, name, content, is_error)


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


def read_forced_tool(choice: Any) -> str | None:
    """The name in `tool_choice`, which OpenAI's chat has one level deeper than the others."""
    given = choice if type(choice) is dict else {}
    function = given.get("function")
    name = function.get("name") if type(function) is dict else given.get("name")
    return name if type(name) is str else None
