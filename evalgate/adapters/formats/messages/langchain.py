"""Reads LangChain's messages in its three serialised shapes as messages with a role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.core.provider_response import LANGCHAIN_USAGE
from evalgate.adapters.formats.messages import roles
from evalgate.adapters.formats.messages.blocks import read_each
from evalgate.adapters.formats.messages.roles import ROLES, read_message_as

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.adapters.formats.core.builder.run import MeteredConversation
    from evalgate.models.trace.trace import Role

TYPES: dict[str, Role] = {
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "SystemMessage": "system",
    "developer": "system",
    "tool": "tool",
    "ToolMessage": "tool",
    "function": "tool",
    "FunctionMessage": "tool",
}
CHAT = ("chat", "ChatMessage")
REASONS = ("finish_reason", "stop_reason", "done_reason", "finishReason")
MODELS = ("model_name", "model", "model_id")


def is_shape(value: Any) -> bool:
    """True for a serialised LangChain message."""
    return type(value) is dict and _find_role_and_body(value) is not None


def read_messages(value: Any) -> list[RawMessage]:
    """One message or a list of them; raises FieldError."""
    return read_each(value, read_message)


def get_body(value: Any) -> dict[str, Any]:
    """The message without its wrapper; an empty object if it is not a message."""
    found = _find_role_and_body(value) if type(value) is dict else None
    return {} if found is None else found[1]


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One message, in any of its wrappers."""
    found = _find_role_and_body(recorded)
    if found is None:
        raise FieldError("type", "is not one of human, ai, system, tool")
    role, body = found
    metadata = body.get("response_metadata")
    metadata = metadata if type(metadata) is dict else {}
    message = {
        "content": body.get("content"),
        "name": body.get("name"),
        "tool_call_id": body.get("tool_call_id"),
        "status": body.get("status"),
        "tool_calls": _list_calls(body),
        "model": _find_first_text(metadata, MODELS),
        "finish_reason": _find_first_text(metadata, REASONS),
        "reasoning_content": _get_extra(body).get("reasoning_content"),
    }
    return read_message_as(role, message)


def _find_role_and_body(value: dict[str, Any]) -> tuple[Role, dict[str, Any]] | None:
    kwargs, path, kind, data = (value.get(key) for key in ("kwargs", "id", "type", "data"))
    if type(kwargs) is dict and type(path) is list and path:
        return _match_role(path[-1], kwargs)
    if type(data) is dict and "content" in data:
        return _match_role(kind, data)
    return _match_role(kind, value) if "content" in value and "role" not in value else None


def _match_role(kind: Any, body: dict[str, Any]) -> tuple[Role, dict[str, Any]] | None:
    if kind in CHAT:
        kind = body.get("role")
    role = TYPES.get(kind) or ROLES.get(kind) if type(kind) is str else None
    return None if role is None else (role, body)


def _list_calls(body: dict[str, Any]) -> list[Any]:
    """Valid calls and those with arguments LangChain could not parse; else the provider's own list."""
    calls = listing(body.get("tool_calls"), "tool_calls")
    calls = calls + listing(body.get("invalid_tool_calls"), "invalid_tool_calls")
    if calls:
        return calls
    extra = _get_extra(body)
    legacy = extra.get("function_call")
    return listing(extra.get("tool_calls"), "additional_kwargs.tool_calls") or ([legacy] if legacy else [])


def _get_extra(body: dict[str, Any]) -> dict[str, Any]:
    return mapping(body.get("additional_kwargs"), "additional_kwargs")


def _find_first_text(metadata: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((text(metadata[key], key) for key in keys if type(metadata.get(key)) is str), None)


def add_message(conversation: MeteredConversation, message: dict[str, Any]) -> None:
    """Adds one message, in LangChain's own form or as a message with a role."""
    is_own = is_shape(message)
    messages = read_message(message) if is_own else roles.read_message(message)
    conversation.add_messages(messages)
    body = get_body(message) if is_own else message
    usage, last = body.get("usage_metadata"), messages[-1]
    answer = next((one for one in messages if one.role == "assistant"), None)
    if answer is None:
        return
    if usage is None:
        conversation.unmetered += 1
        return
    metadata = mapping(body.get("response_metadata"), "response_metadata")
    conversation.add_llm_call(
        LANGCHAIN_USAGE.read(usage, "usage_metadata"),
        provider=text(metadata.get("model_provider"), "response_metadata.model_provider"),
        model=answer.model,
        response_id=text(body.get("id"), "id"),
        reason=last.finish_reason,
    )
