"""Reads messages of any framework, recognised by their shape: for spans and exports of unknown origin."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.core.python_literals import parse_object_fields, unwrap_text
from evalgate.adapters.formats.messages import gemini, genai, langchain, pydantic_ai, responses, roles, vercel
from evalgate.adapters.formats.messages.blocks import join_text

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Role

MAX_WRAPPERS = 4


class MessageShape(Protocol):
    """A message shape. Its check `is_shape` never raises; reading raises FieldError."""

    def is_shape(self, value: Any, /) -> bool:
        """True for a message of this shape."""

    def read_messages(self, value: Any, /) -> list[RawMessage]:
        """Reads one message of this shape, or a list of them."""


SHAPES: tuple[MessageShape, ...] = (pydantic_ai, genai, vercel, gemini, responses, langchain, roles)
"""In the order of detection: the shape with the most specific check comes first."""


def sniff_messages(value: Any) -> list[RawMessage] | None:
    """Messages of a message, a list of them, or a model's request or response; None for any other value.

    Never raises, for any JSON. The caller decodes JSON within text.
    """
    try:
        return _read_value(value, MAX_WRAPPERS)
    except FieldError:
        return None


def _read_value(value: Any, levels_left: int) -> list[RawMessage] | None:
    if type(value) is list:
        return _read_list(value, levels_left)
    if type(value) is not dict:
        return None
    shape = _find_shape(value)
    if shape is not None:
        return shape.read_messages([value])
    return _read_wrapped(value, levels_left - 1) if levels_left else None


def _read_list(values: list[Any], levels_left: int) -> list[RawMessage] | None:
    if not values:
        return None
    if len(values) == 1 and type(values[0]) is list:
        return _read_list(values[0], levels_left - 1) if levels_left else None
    all_messages: list[RawMessage] = []
    tools: set[str] = set()
    for shape, group in groupby(values, _find_shape):
        messages = list(group)
        found = _read_tool_named(tools, messages) if shape is None else shape.read_messages(messages)
        if found is None:
            return None
        tools.update(request.name for message in found for request in message.calls)
        all_messages += found
    return all_messages


def _find_shape(value: Any) -> MessageShape | None:
    return next((shape for shape in SHAPES if shape.is_shape(value)), None)


def _read_tool_named(tools: set[str], values: list[Any]) -> list[RawMessage] | None:
    """Tool results with the tool's name as the role, which some recorders write; None for other messages."""
    found = []
    for value in values:
        role = value.get("role") if type(value) is dict else None
        if type(role) is not str or role not in tools or "content" not in value:
            return None
        found.append(RawMessage("tool", answers=[ToolResult(None, role, value["content"])]))
    return found


def _read_wrapped(value: dict[str, Any], levels_left: int) -> list[RawMessage] | None:
    """The messages in a provider's request or response, or in a framework's wrapper."""
    for key in ("messages", "contents", "input", "output"):
        found = _read_list(value[key], levels_left) if type(value.get(key)) is list else None
        if found is not None:
            return found if key == "output" else [*_read_instructions(value), *found]
    if type(value.get("contents")) is str and value["contents"]:
        return [*_read_instructions(value), RawMessage("user", value["contents"])]
    for key in ("message", "content", "kwargs"):
        found = _read_value(value[key], levels_left) if type(value.get(key)) is dict else None
        if found is not None:
            return _add_finish_reason(found, value)
    for key in ("choices", "candidates", "generations"):
        first = value.get(key)
        while type(first) is list and first:
            first = first[0]
        found = _read_value(first, levels_left) if type(first) is dict else None
        if found is not None:
            return found
    return None


def _read_instructions(value: dict[str, Any]) -> list[RawMessage]:
    config = value.get("config")
    places = [value, config] if type(config) is dict else [value]
    for place in places:
        for key in ("system", "system_instruction", "systemInstruction", "instructions"):
            words = _read_text(place.get(key))
            if words:
                return [RawMessage("system", words)]
    return []


def _read_text(value: Any) -> str | None:
    if type(value) is dict:
        value = value.get("parts")
    if type(value) is list:
        return join_text(value)
    return value if type(value) is str else None


def _add_finish_reason(messages: list[RawMessage], wrapper: dict[str, Any]) -> list[RawMessage]:
    """Adds the finish reason, which is recorded next to the model's message."""
    reason = next((wrapper[key] for key in ("finish_reason", "finishReason") if wrapper.get(key)), None)
    if type(reason) is str and messages[-1].role == "assistant" and messages[-1].finish_reason is None:
        messages[-1].finish_reason = reason
    return messages


TEXT_WRAPPERS = ("messages", "input", "new_message", "prompt", "question", "args", "output", "raw")


def read_payload(value: Any, role: Role) -> list[RawMessage] | None:
    """The messages in a value recorded as JSON, JSON text or Python text; None if it holds none.

    Bare text becomes a message of `role`: the user for input, the assistant for output. Never raises.
    """
    value = unwrap_text(value)
    if type(value) is str:
        return _read_bare_text(value, role)
    messages = (
        _read_python_messages(value)
        or sniff_messages(value)
        or _read_bare_calls(value)
        or _read_wrapped_text(value, role)
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


def _read_bare_text(text: str, role: Role) -> list[RawMessage] | None:
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


def _read_wrapped_text(value: Any, role: Role) -> list[RawMessage] | None:
    """The messages of an object that keeps text or messages under one of the known keys."""
    if type(value) is not dict:
        return None
    if type(value.get("text")) is str and type(value.get("role")) is str:
        return sniff_messages([{"role": value["role"], "content": value["text"]}])
    for key in TEXT_WRAPPERS:
        inner = unwrap_text(value.get(key))
        if type(inner) is list and len(inner) == 1 and type(inner[0]) is str:
            inner = inner[0]
        found = _read_bare_text(inner, role) if type(inner) is str else sniff_messages(inner)
        if found:
            return found
    return None
