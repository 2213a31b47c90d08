"""Defines `RawMessage`, the common representation that every message shape is read into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import Conversation, mark_failed
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.usage.usage_fields import finish_reason
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import Message, Role


class ToolRequest(NamedTuple):
    """A tool call as recorded in its message; `arguments` are an object or text, as recorded."""

    id: str | None
    name: str
    arguments: Any


class ToolResult(NamedTuple):
    """A tool's result as recorded in its message: text, or a value if the recorder kept one."""

    id: str | None
    name: str | None
    content: Any
    is_error: bool = False
    exit_code: int | None = None


@dataclass(slots=True)
class RawMessage:
    """One message. Tool results come before the message's text, for every role.

    `finish_reason` is the provider's; `timestamp` is RFC 3339 in UTC; `parts` is set only if text and calls
    are not the whole content.
    """

    role: Role
    content: str | None = None
    calls: list[ToolRequest] = field(default_factory=list)
    answers: list[ToolResult] = field(default_factory=list)
    reasoning: str | None = None
    name: str | None = None
    agent: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    timestamp: str | None = None
    parts: list[dict[str, Any]] | None = None


def conversation_from_messages(messages: Iterable[RawMessage]) -> Conversation:
    """A conversation with turns, steps, and calls joined with their results."""
    conversation = Conversation()
    for message in messages:
        add_raw_message(conversation, message)
    return conversation


def add_raw_message(conversation: Conversation, raw: RawMessage) -> Message | None:
    """Adds one message; returns the message added, None if it held only tool results."""
    for result in raw.answers:
        _add_result(conversation, result, raw)
    if raw.answers and not (raw.content or raw.calls or raw.parts):
        return None
    if raw.role == "tool" and not raw.answers:
        message, _ = conversation.add_result(None, raw.name, raw.content)
    else:
        role: Role = "user" if raw.role == "tool" else raw.role
        message = conversation.add_message(role, raw.content)
    message["reasoning"] = raw.reasoning
    message["name"] = raw.name
    message["agent"] = raw.agent
    message["model"] = raw.model
    message["finish_reason"] = finish_reason(raw.finish_reason)
    message["timestamp"] = raw.timestamp
    message["parts"] = raw.parts
    for request in raw.calls:
        call = conversation.add_call(message, request.id, request.name, read_arguments(request.arguments))
        call["agent"] = raw.agent
        call["started_at"] = raw.timestamp
    return message


def _add_result(conversation: Conversation, result: ToolResult, raw: RawMessage) -> None:
    content = result.content
    content_text = content if content is None or isinstance(content, str) else encode_json(content)
    message, call = conversation.add_result(result.id, result.name, content_text)
    message["timestamp"] = raw.timestamp
    message["agent"] = raw.agent
    if call is None:
        return
    call["result"] = content
    call["exit_code"] = result.exit_code
    if result.is_error:
        mark_failed(call)


def encode_json(value: Any) -> str:
    """A value as JSON text with sorted keys, so equal values give equal text."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
