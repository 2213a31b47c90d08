"""Reads LangChain's messages in its three serialised shapes as messages with a role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError, listing, mapping, text
from evalgate.adapters.formats.messages.message_lists import read_each
from evalgate.adapters.formats.messages.roles import ROLES, read_as

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.build.raw_message import RawMessage
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
    return type(value) is dict and _role_and_body(value) is not None


def read(value: Any) -> list[RawMessage]:
    """One message or a list of them; raises FieldError."""
    return read_each(value, read_message)


def body_of(value: Any) -> dict[str, Any]:
    """The message without its wrapper; an empty object if it is no message."""
    found = _role_and_body(value) if type(value) is dict else None
    return {} if found is None else found[1]


def read_message(recorded: dict[str, Any]) -> list[RawMessage]:
    """One message, in any of its wrappers."""
    found = _role_and_body(recorded)
    if found is None:
        raise FieldError("type", "is none of human, ai, system, tool")
    role, body = found
    about = body.get("response_metadata")
    about = about if type(about) is dict else {}
    plain = {
        "content": body.get("content"),
        "name": body.get("name"),
        "tool_call_id": body.get("tool_call_id"),
        "status": body.get("status"),
        "tool_calls": _calls(body),
        "model": _first_text(about, MODELS),
        "finish_reason": _first_text(about, REASONS),
        "reasoning_content": _extra(body).get("reasoning_content"),
    }
    return read_as(role, plain)


def _role_and_body(value: dict[str, Any]) -> tuple[Role, dict[str, Any]] | None:
    kwargs, path, kind, data = (value.get(key) for key in ("kwargs", "id", "type", "data"))
    if type(kwargs) is dict and type(path) is list and path:
        return _known(path[-1], kwargs)
    if type(data) is dict and "content" in data:
        return _known(kind, data)
    return _known(kind, value) if "content" in value and "role" not in value else None


def _known(kind: Any, body: dict[str, Any]) -> tuple[Role, dict[str, Any]] | None:
    if kind in CHAT:
        kind = body.get("role")
    role = TYPES.get(kind) or ROLES.get(kind) if type(kind) is str else None
    return None if role is None else (role, body)


def _calls(body: dict[str, Any]) -> list[Any]:
    """Valid calls and those with arguments LangChain could not parse; else the provider's own list."""
    calls = listing(body.get("tool_calls"), "tool_calls")
    calls = calls + listing(body.get("invalid_tool_calls"), "invalid_tool_calls")
    if calls:
        return calls
    extra = _extra(body)
    legacy = extra.get("function_call")
    return listing(extra.get("tool_calls"), "additional_kwargs.tool_calls") or ([legacy] if legacy else [])


def _extra(body: dict[str, Any]) -> dict[str, Any]:
    return mapping(body.get("additional_kwargs"), "additional_kwargs")


def _first_text(about: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((text(about[key], key) for key in keys if type(about.get(key)) is str), None)
