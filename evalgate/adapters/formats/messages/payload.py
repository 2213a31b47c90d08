"""Reads the messages in a span's input and output, in the notation of any framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest
from evalgate.adapters.formats.core.python_literals import object_fields, unwrapped
from evalgate.adapters.formats.messages.sniff_messages import said_of

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

WRAPPERS = ("messages", "input", "new_message", "prompt", "question", "args", "output", "raw")


def carried(value: Any, speaker: Role) -> list[RawMessage] | None:
    """The messages in a value recorded as JSON, JSON text or Python text; None if it holds none.

    Bare text becomes a message of `role`: the user for input, the assistant for output. Never raises.
    """
    value = unwrapped(value)
    if type(value) is str:
        return _spoken(value, speaker)
    said = _from_python(value) or said_of(value) or _asked(value) or _within(value, speaker)
    return said and _with_calls(said)


def exchanged(given: Any, gave: Any) -> tuple[list[RawMessage] | None, list[RawMessage] | None]:
    """The messages of a span's input and of its output.

    A graph outputs its whole state including the input: then only the output's messages are returned.
    """
    said, answered = carried(given, "user"), carried(gave, "assistant")
    if answered and any(one.role == "user" and not one.answers for one in answered):
        has_system = any(one.role == "system" for one in answered)
        said = None if has_system or not said else [one for one in said if one.role == "system"] or None
    return said, answered


def _spoken(text: str, speaker: Role) -> list[RawMessage] | None:
    if text.startswith("role="):
        return _from_python([text])
    return [RawMessage(speaker, text)] if text.strip() else None


def _from_python(value: Any) -> list[RawMessage] | None:
    """Messages that were each recorded as the repr of a Python object."""
    listed = value.get("messages") if type(value) is dict else value
    if type(listed) is not list or not listed:
        return None
    if not all(type(one) is str and one.startswith("role=") for one in listed):
        return None
    fields = [object_fields(one) for one in listed]
    messages = [_message(one) for one in fields if one is not None]
    return said_of(messages) if len(messages) == len(listed) else None


def _message(fields: dict[str, Any]) -> dict[str, Any]:
    known = ("role", "content", "tool_calls", "tool_call_id")
    message = {key: fields[key] for key in known if fields.get(key) is not None}
    message.setdefault("content", None)
    if fields.get("tool_name") is not None:
        message["name"] = fields["tool_name"]
    return message


def _asked(value: Any) -> list[RawMessage] | None:
    """Tool calls recorded without their message."""
    if type(value) is not list or not value:
        return None
    calls = []
    for call in value:
        name = call.get("toolName") if type(call) is dict else None
        called = call.get("toolCallId") if type(call) is dict else None
        if type(name) is not str or not name or not (called is None or type(called) is str):
            return None
        calls.append(ToolRequest(called, name, call.get("input", call.get("args"))))
    return [RawMessage("assistant", calls=calls)]


def _with_calls(said: list[RawMessage]) -> list[RawMessage]:
    """Turns messages whose text is a tool call into calls; some frameworks record them so, in any role."""
    found: list[RawMessage] = []
    for message in said:
        calls = _calls_in(message)
        if not calls:
            found.append(message)
        elif found and found[-1].role == "assistant" and found[-1].calls and not found[-1].content:
            found[-1].calls += calls
        else:
            found.append(RawMessage("assistant", calls=calls))
    return found


def _calls_in(message: RawMessage) -> list[ToolRequest]:
    """The calls of a message whose only content is calls, as text or as objects."""
    only = message.answers[0].content if len(message.answers) == 1 else message.content
    if type(only) is str and only.startswith('[{"function"'):
        only = unwrapped(only)
    if type(only) is not list or not all(type(one) is dict and "function" in one for one in only):
        return []
    said = said_of([{"role": "assistant", "content": None, "tool_calls": only}])
    return said[0].calls if said else []


def _within(value: Any, speaker: Role) -> list[RawMessage] | None:
    """The messages of an object that keeps text or messages under one of the known keys."""
    if type(value) is not dict:
        return None
    if type(value.get("text")) is str and type(value.get("role")) is str:
        return said_of([{"role": value["role"], "content": value["text"]}])
    for key in WRAPPERS:
        inner = unwrapped(value.get(key))
        if type(inner) is list and len(inner) == 1 and type(inner[0]) is str:
            inner = inner[0]
        found = _spoken(inner, speaker) if type(inner) is str else said_of(inner)
        if found:
            return found
    return None
