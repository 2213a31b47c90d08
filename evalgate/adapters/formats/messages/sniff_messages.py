"""Reads messages of any framework, recognised by their shape: for spans and exports of unknown origin."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Protocol

from evalgate.adapters.formats.core.builder.raw_message import RawMessage, ToolResult
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.messages import gemini, genai, langchain, pydantic_ai, responses, roles, vercel
from evalgate.adapters.formats.messages.blocks import join_text

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
