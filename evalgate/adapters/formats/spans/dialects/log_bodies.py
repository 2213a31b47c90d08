"""Reads input and output from event bodies, where AWS collectors keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.messages.roles import read_message
from evalgate.adapters.formats.messages.sniff_messages import read_payload
from evalgate.adapters.formats.spans.dialects.attributes import first

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Role


def kind_of(span: Span) -> SpanKind | None:
    """The kind by output: generations of a model, a tool's message, or messages of an agent."""
    if not span.events:
        return None
    answered = unwrap_text(_content(span, "output"))
    if type(answered) is not dict:
        return None
    if type(answered.get("generations")) is list:
        return "inference"
    if answered.get("type") == "tool" and type(answered.get("name")) is str:
        return "tool"
    is_state = "remaining_steps" in (given if type(given := unwrap_text(_content(span, "input"))) is dict else ())
    return "agent" if type(answered.get("messages")) is list and not is_state else None


def add(span: Span, facts: SpanFacts) -> None:
    """Adds input and output from the body, if the span has none elsewhere."""
    if not span.events or facts.kind not in ("inference", "tool", "agent"):
        return
    given, answered = _content(span, "input"), _content(span, "output")
    output = unwrap_text(answered)
    if facts.kind == "tool":
        if type(output) is dict and facts.tool_name is None and type(output.get("name")) is str:
            facts.tool_name = output["name"]
            facts.tool_call_id = first(output, "tool_call_id")
            facts.arguments, facts.result = unwrap_text(given), output.get("content")
            facts.error_type = "error" if output.get("status") == "error" else None
        return
    facts.input = facts.input or _read_messages(given, "user")
    facts.output = facts.output or _read_generation(output) or _read_messages(answered, "assistant")


def _read_generation(output: Any) -> list[RawMessage] | None:
    """The first generation: its text and its tool calls."""
    generation = output.get("generations") if type(output) is dict else None
    while type(generation) is list and generation:
        generation = generation[0]
    if type(generation) is not dict:
        return None
    message = generation.get("message")
    calls = message.get("tool_calls") if type(message) is dict else None
    recorded = {"role": "assistant", "content": generation.get("text"), "tool_calls": calls}
    try:
        return read_message(recorded)
    except FieldError:
        return None


def _content(span: Span, name: str) -> Any:
    """The content of the only message under `name`; the list of messages if there are several."""
    for event in span.events:
        body = event.body
        side = body.get(name) if type(body) is dict else None
        listed = side.get("messages") if type(side) is dict else None
        if type(listed) is list and listed:
            only = listed[0] if len(listed) == 1 else None
            return only.get("content") if type(only) is dict else listed
    return None


def _read_messages(value: Any, speaker: Role) -> list[RawMessage] | None:
    return None if value is None else read_payload(value, speaker)
