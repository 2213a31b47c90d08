"""Reads messages of OpenTelemetry's GenAI conventions: a role and typed parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.raw_message import RawMessage, ToolRequest, ToolResult, encode_json
from evalgate.adapters.formats.core.fields import do_each, listing, mapping, required_text, text
from evalgate.adapters.formats.messages.blocks import is_tool_call, parse_result
from evalgate.adapters.formats.messages.message_builder import MessageBuilder
from evalgate.adapters.formats.messages.message_lists import read_each
from evalgate.adapters.formats.messages.python_calls import parse_call
from evalgate.adapters.formats.messages.roles import ROLES

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

TEXT, REASONING = "text", "reasoning"
CALLS = frozenset({"tool_call", "server_tool_call"})
ANSWERS = frozenset({"tool_call_response", "server_tool_call_response"})
CONTENT_KINDS = frozenset({TEXT, REASONING})


def is_shape(value: Any) -> bool:
    """True for a message whose parts have a `type` and keep their text under `content`."""
    if type(value) is not dict or type(value.get("role")) is not str:
        return False
    parts = value.get("parts")
    return type(parts) is list and bool(parts) and all(_is_part(part) for part in parts)


def read_messages(value: Any) -> list[RawMessage]:
    """One message or a list of them; raises FieldError."""
    return read_each(value, read_message)


def read_message(recorded: dict[str, Any], default_role: Role = "assistant") -> list[RawMessage]:
    """One message, as several if it holds tool results; an unknown role becomes `default_role`."""
    role = ROLES.get(required_text(recorded.get("role"), "role"), default_role)
    reason = text(recorded.get("finish_reason"), "finish_reason")
    builder = MessageBuilder(RawMessage(role, name=text(recorded.get("name"), "name"), finish_reason=reason))
    do_each(listing(recorded.get("parts"), "parts"), "parts", lambda part: _add_part(builder, part))
    return builder.build_messages()


def join_text_parts(value: Any) -> str | None:
    """The text of instructions: joined text parts, or the text itself; None if there are no instructions."""
    if type(value) is str:
        return value or None
    parts = value if type(value) is list else []
    words = [part["content"] for part in parts if type(part) is dict and type(part.get("content")) is str] or [
        part for part in parts if type(part) is str
    ]
    return "\n".join(words) or None


def _is_part(part: Any) -> bool:
    if type(part) is not dict or type(part.get("type")) is not str:
        return False
    kind = part["type"]
    if kind in CONTENT_KINDS:
        return "content" in part
    if kind in CALLS:
        return type(part.get("name")) is str
    return kind in ANSWERS or kind in {"blob", "file", "uri", "generic"} or "content" in part


def _add_part(builder: MessageBuilder, part: dict[str, Any]) -> None:
    kind = required_text(part.get("type"), "type")
    if kind in ANSWERS:
        builder.add_result(_read_result(part, kind))
        return
    builder.start_after_results()
    if kind == TEXT:
        words = text(part.get("content"), "content")
        request = None if words is None else parse_call(words)
        if request is not None:
            builder.add_call(request)
        else:
            builder.add_text(words)
    elif kind == REASONING:
        builder.add_reasoning(text(part.get("content"), "content"))
    elif kind in CALLS or is_tool_call(part):
        builder.add_call(_read_request(part, kind))
    else:
        builder.add_other(kind)


def _read_request(part: dict[str, Any], kind: str) -> ToolRequest:
    given = part.get("arguments")
    if given is None and kind == "server_tool_call":
        fields = mapping(part.get(kind), kind)
        given = {key: value for key, value in fields.items() if key != "type"}
    return ToolRequest(_read_call_id(part), required_text(part.get("name"), "name"), given)


def _read_result(part: dict[str, Any], kind: str) -> ToolResult:
    """The schema names the content `response`, its example `result`."""
    content_value = next((part[key] for key in ("response", "result", kind) if part.get(key) is not None), None)
    content, has_failed = parse_result(content_value)
    name = text(part.get("name"), "name") or None
    return ToolResult(_read_call_id(part), name, content, has_failed)


def _read_call_id(part: dict[str, Any]) -> str | None:
    """The id of a call; an id that is a list becomes JSON text."""
    value = part.get("id")
    return encode_json(value) if type(value) is list else text(value, "id") or None
