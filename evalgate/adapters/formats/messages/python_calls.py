"""Parses tool calls that were recorded as the repr of Python objects instead of messages."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.build.raw_message import ToolRequest
from evalgate.adapters.formats.core.python_literals import MOST_CHARS, literal

SHOWN_CALL = "ResponseFunctionToolCall("
SHOWN_LIST = "Calling tools:\n["


def call_in(words: str) -> ToolRequest | None:
    """The call of a text that is only `ResponseFunctionToolCall(name='f', ...)`, else None."""
    if not words.startswith(SHOWN_CALL) or len(words) > MOST_CHARS:
        return None
    import ast

    try:
        shown = ast.parse(words, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(shown, ast.Call):
        return None
    told = {
        keyword.arg: keyword.value.value
        for keyword in shown.keywords
        if keyword.arg is not None and isinstance(keyword.value, ast.Constant)
    }
    name, called = told.get("name"), told.get("call_id")
    if type(name) is not str or not name:
        return None
    given = told.get("arguments")
    return ToolRequest(called if type(called) is str else None, name, given if type(given) is str else None)


def calls_in(words: str) -> list[ToolRequest]:
    """The calls of a text `Calling tools:` followed by a list; an empty list for any other text."""
    if not words.startswith(SHOWN_LIST):
        return []
    listed = literal(words.removeprefix("Calling tools:\n"))
    return [asked for asked in map(_asked, listed if type(listed) is list else []) if asked is not None]


def _asked(value: Any) -> ToolRequest | None:
    called = value.get("function") if type(value) is dict else None
    name = called.get("name") if type(called) is dict else None
    if type(called) is not dict or type(name) is not str or not name:
        return None
    identity = value.get("id")
    return ToolRequest(identity if type(identity) is str else None, name, called.get("arguments"))
