"""Parses tool calls that were recorded as the repr of Python objects instead of messages."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.raw_message import ToolRequest
from evalgate.adapters.formats.core.python_literals import MAX_CHARS, parse_literal

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
    return [request for request in map(_read_request, listed if type(listed) is list else []) if request is not None]


def _read_request(value: Any) -> ToolRequest | None:
    function = value.get("function") if type(value) is dict else None
    name = function.get("name") if type(function) is dict else None
    if type(function) is not dict or type(name) is not str or not name:
        return None
    identity = value.get("id")
    return ToolRequest(identity if type(identity) is str else None, name, function.get("arguments"))
