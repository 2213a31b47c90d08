"""Reads messages of OpenTelemetry's GenAI conventions (a role and typed parts), and calls shown as Python objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import do_each, listing, mapping, required_text, text
from evalgate.adapters.formats.core.python_literals import MAX_CHARS, parse_literal
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.messages.blocks import MessageBuilder, is_tool_call, parse_result, read_each
from evalgate.adapters.formats.messages.roles import ROLES

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

SHOWN_CALL = "ResponseFunctionToolCall("
SHOWN_LIST = "Calling tools:\n["


def parse_call(text: str) -> ToolRequest | None:
    """The call of a text that is only `ResponseFunctionToolCall(name='f', ...)`, else None."""
    if not text.startswith(SHOWN_CALL) or len(text) > MAX_CHARS:
        return None
    import ast

    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call):
        return None
    fields = {
        keyword.arg: keyword.value.value
        for keyword in call.keywords
        if keyword.arg is not None and isinstance(keyword.value, ast.Constant)
    }
    name, call_id = fields.get("name"), fields.get("call_id")
    if type(name) is not str or not name:
        return None
    given = fields.get("arguments")
    return ToolRequest(call_id if type(call_id) is str else None, name, given if type(given) is str else None)


def parse_calls(text: str) -> list[ToolRequest]:
    """The calls of a text `Calling tools:` followed by a list; an empty list for any other text."""
    if not text.startswith(SHOWN_LIST):
        return []
    listed = parse_literal(text.removeprefix("Calling tools:\n"))
    return [
        request for request in map(_read_listed_call, listed if type(listed) is list else []) if request is not None
    ]


def _read_listed_call(value: Any) -> ToolRequest | None:
    function = value.get("function") if type(value) is dict else None
    name = function.get("name") if type(function) is dict else None
    if type(function) is not dict or type(name) is not str or not name:
        return None
    identity = value.get("id")
    return ToolRequest(identity if type(identity) is str else None, name, function.get("arguments"))


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
    return ToolResult(_read_call_id(part), name, content, has_failed or None)


def _read_call_id(part: dict[str, Any]) -> str | None:
    """The id of a call; an id that is a list becomes JSON text."""
    value = part.get("id")
    return encode_json(value) if type(value) is list else text(value, "id") or None
