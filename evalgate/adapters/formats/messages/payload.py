"""Reads the messages in a span's input and output, in the notation of any framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.raw_message import RawMessage, ToolRequest
from evalgate.adapters.formats.core.python_literals import parse_object_fields, unwrap_text
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

WRAPPERS = ("messages", "input", "new_message", "prompt", "question", "args", "output", "raw")


def read_payload(value: Any, role: Role) -> list[RawMessage] | None:
    """The messages in a value recorded as JSON, JSON text or Python text; None if it holds none.

    Bare text becomes a message of `role`: the user for input, the assistant for output. Never raises.
    """
    value = unwrap_text(value)
    if type(value) is str:
        return _read_text(value, role)
    messages = (
        _read_python_messages(value) or sniff_messages(value) or _read_bare_calls(value) or _read_wrapped(value, role)
    )
    return messages and _convert_call_texts(messages)


def read_exchange(input_value: Any, output_value: Any) -> tuple[list[RawMessage] | None, list[RawMessage] | None]:
    """The messages of a span's input and of its output.

    A graph outputs its whole state including the input: then only the output's messages are returned.
    """
    inputs, outputs = read_payload(input_value, "user"), read_payload(output_value, "assistant")
    if outputs and any(message.role == "user" and not message.answers for message in outputs):
        has_system = any(message.role == "system" for message in outputs)
        inputs = (
            None if has_system or not inputs else [message for message in inputs if message.role == "system"] or None
        )
    return inputs, outputs


def _read_text(text: str, role: Role) -> list[RawMessage] | None:
    if text.startswith("role="):
        return _read_python_messages([text])
    return [RawMessage(role, text)] if text.strip() else None


def _read_python_messages(value: Any) -> list[RawMessage] | None:
    """Messages that were each recorded as the repr of a Python object."""
    listed = value.get("messages") if type(value) is dict else value
    if type(listed) is not list or not listed:
        return None
    if not all(type(item) is str and item.startswith("role=") for item in listed):
        return None
    fields = [parse_object_fields(item) for item in listed]
    messages = [_build_message(item) for item in fields if item is not None]
    return sniff_messages(messages) if len(messages) == len(listed) else None


def _build_message(fields: dict[str, Any]) -> dict[str, Any]:
    known = ("role", "content", "tool_calls", "tool_call_id")
    message = {key: fields[key] for key in known if fields.get(key) is not None}
    message.setdefault("content", None)
    if fields.get("tool_name") is not None:
        message["name"] = fields["tool_name"]
    return message


def _read_bare_calls(value: Any) -> list[RawMessage] | None:
    """Tool calls recorded without their message."""
    if type(value) is not list or not value:
        return None
    calls = []
    for call in value:
        name = call.get("toolName") if type(call) is dict else None
        call_id = call.get("toolCallId") if type(call) is dict else None
        if type(name) is not str or not name or not (call_id is None or type(call_id) is str):
            return None
        calls.append(ToolRequest(call_id, name, call.get("input", call.get("args"))))
    return [RawMessage("assistant", calls=calls)]


def _convert_call_texts(messages: list[RawMessage]) -> list[RawMessage]:
    """Turns messages whose text is a tool call into calls; some frameworks record them so, in any role."""
    found: list[RawMessage] = []
    for message in messages:
        calls = _find_calls(message)
        if not calls:
            found.append(message)
        elif found and found[-1].role == "assistant" and found[-1].calls and not found[-1].content:
            found[-1].calls += calls
        else:
            found.append(RawMessage("assistant", calls=calls))
    return found


def _find_calls(message: RawMessage) -> list[ToolRequest]:
    """The calls of a message whose only content is calls, as text or as objects."""
    content = message.answers[0].content if len(message.answers) == 1 else message.content
    if type(content) is str and content.startswith('[{"function"'):
        content = unwrap_text(content)
    if type(content) is not list or not all(type(item) is dict and "function" in item for item in content):
        return []
    messages = sniff_messages([{"role": "assistant", "content": None, "tool_calls": content}])
    return messages[0].calls if messages else []


def _read_wrapped(value: Any, role: Role) -> list[RawMessage] | None:
    """The messages of an object that keeps text or messages under one of the known keys."""
    if type(value) is not dict:
        return None
    if type(value.get("text")) is str and type(value.get("role")) is str:
        return sniff_messages([{"role": value["role"], "content": value["text"]}])
    for key in WRAPPERS:
        inner = unwrap_text(value.get(key))
        if type(inner) is list and len(inner) == 1 and type(inner[0]) is str:
            inner = inner[0]
        found = _read_text(inner, role) if type(inner) is str else sniff_messages(inner)
        if found:
            return found
    return None
