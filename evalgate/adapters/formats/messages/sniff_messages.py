"""Reads messages of any framework, recognised by their shape: for spans and exports of unknown origin."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Protocol

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolResult
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.messages import (
    gemini,
    genai,
    langchain,
    pydantic_ai,
    responses,
    roles,
    vercel,
)
from evalgate.adapters.formats.messages.blocks import joined

DEEPEST_WRAPPER = 4


class MessageShape(Protocol):
    """A message shape. Its check `is_shape` never raises; reading raises FieldError."""

    def is_shape(self, value: Any, /) -> bool:
        """True for a message of this shape."""

    def read(self, value: Any, /) -> list[RawMessage]:
        """Reads one message of this shape, or a list of them."""


SHAPES: tuple[MessageShape, ...] = (pydantic_ai, genai, vercel, gemini, responses, langchain, roles)
"""In the order of detection: the shape with the most specific check comes first."""


def said_of(value: Any) -> list[RawMessage] | None:
    """Messages of a message, a list of them, or a model's request or response; None for any other value.

    Never raises, for any JSON. The caller decodes JSON within text.
    """
    try:
        return _said(value, DEEPEST_WRAPPER)
    except FieldError:
        return None


def _said(value: Any, deeper: int) -> list[RawMessage] | None:
    if type(value) is list:
        return _listed(value, deeper)
    if type(value) is not dict:
        return None
    shape = _shape_of(value)
    if shape is not None:
        return shape.read([value])
    return _unwrapped(value, deeper - 1) if deeper else None


def _listed(values: list[Any], deeper: int) -> list[RawMessage] | None:
    if not values:
        return None
    if len(values) == 1 and type(values[0]) is list:
        return _listed(values[0], deeper - 1) if deeper else None
    said: list[RawMessage] = []
    tools: set[str] = set()
    for shape, group in groupby(values, _shape_of):
        messages = list(group)
        found = _by_tool_name(tools, messages) if shape is None else shape.read(messages)
        if found is None:
            return None
        tools.update(asked.name for message in found for asked in message.calls)
        said += found
    return said


def _shape_of(value: Any) -> MessageShape | None:
    return next((shape for shape in SHAPES if shape.is_shape(value)), None)


def _by_tool_name(tools: set[str], values: list[Any]) -> list[RawMessage] | None:
    """Tool results with the tool's name as the role, which some recorders write; None for other messages."""
    found = []
    for value in values:
        role = value.get("role") if type(value) is dict else None
        if type(role) is not str or role not in tools or "content" not in value:
            return None
        found.append(RawMessage("tool", answers=[ToolResult(None, role, value["content"])]))
    return found


def _unwrapped(value: dict[str, Any], deeper: int) -> list[RawMessage] | None:
    """The messages in a provider's request or response, or in a framework's wrapper."""
    for key in ("messages", "contents", "input", "output"):
        found = _listed(value[key], deeper) if type(value.get(key)) is list else None
        if found is not None:
            return found if key == "output" else [*_instructions(value), *found]
    if type(value.get("contents")) is str and value["contents"]:
        return [*_instructions(value), RawMessage("user", value["contents"])]
    for key in ("message", "content", "kwargs"):
        found = _said(value[key], deeper) if type(value.get(key)) is dict else None
        if found is not None:
            return _ended(found, value)
    for key in ("choices", "candidates", "generations"):
        first = value.get(key)
        while type(first) is list and first:
            first = first[0]
        found = _said(first, deeper) if type(first) is dict else None
        if found is not None:
            return found
    return None


def _instructions(value: dict[str, Any]) -> list[RawMessage]:
    config = value.get("config")
    places = [value, config] if type(config) is dict else [value]
    for place in places:
        for key in ("system", "system_instruction", "systemInstruction", "instructions"):
            words = _words(place.get(key))
            if words:
                return [RawMessage("system", words)]
    return []


def _words(value: Any) -> str | None:
    if type(value) is dict:
        value = value.get("parts")
    if type(value) is list:
        return joined(value)
    return value if type(value) is str else None


def _ended(said: list[RawMessage], around: dict[str, Any]) -> list[RawMessage]:
    """Adds the finish reason, which is recorded next to the model's message."""
    reason = next((around[key] for key in ("finish_reason", "finishReason") if around.get(key)), None)
    if type(reason) is str and said[-1].role == "assistant" and said[-1].finish_reason is None:
        said[-1].finish_reason = reason
    return said
