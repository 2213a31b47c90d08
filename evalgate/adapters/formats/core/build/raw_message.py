"""Defines `RawMessage`, the common representation that every message shape is read into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.build.conversation import Conversation, failed
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


def converse(messages: Iterable[RawMessage]) -> Conversation:
    """A conversation with turns, steps, and calls joined with their results."""
    conversation = Conversation()
    for said in messages:
        add(conversation, said)
    return conversation


def add(conversation: Conversation, said: RawMessage) -> Message | None:
    """Adds one message; returns the message added, None if it held only tool results."""
    for answered in said.answers:
        _add_answer(conversation, answered, said)
    if said.answers and not (said.content or said.calls or said.parts):
        return None
    if said.role == "tool" and not said.answers:
        message, _ = conversation.answer(None, said.name, said.content)
    else:
        role: Role = "user" if said.role == "tool" else said.role
        message = conversation.say(role, said.content)
    message["reasoning"] = said.reasoning
    message["name"] = said.name
    message["agent"] = said.agent
    message["model"] = said.model
    message["finish_reason"] = finish_reason(said.finish_reason)
    message["timestamp"] = said.timestamp
    message["parts"] = said.parts
    for asked in said.calls:
        call = conversation.call(message, asked.id, asked.name, read_arguments(asked.arguments))
        call["agent"] = said.agent
        call["started_at"] = said.timestamp
    return message


def _add_answer(conversation: Conversation, answered: ToolResult, said: RawMessage) -> None:
    content = answered.content
    shown = content if content is None or isinstance(content, str) else written(content)
    message, call = conversation.answer(answered.id, answered.name, shown)
    message["timestamp"] = said.timestamp
    message["agent"] = said.agent
    if call is None:
        return
    call["result"] = content
    call["exit_code"] = answered.exit_code
    if answered.is_error:
        failed(call)


def written(value: Any) -> str:
    """A value as JSON text with sorted keys, so equal values give equal text."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
