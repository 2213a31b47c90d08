"""Reads messages from span events and log records, in two versions of the GenAI conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.messages.genai import join_text_parts
from evalgate.adapters.formats.messages.roles import read_message
from evalgate.adapters.formats.spans.dialects.attributes import decode, first, first_text, read_messages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.core.build.raw_message import RawMessage
    from evalgate.adapters.formats.spans.span import Span, SpanEvent, SpanFacts

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
ELIDED = "<elided>"  # what Google's agent kit writes in place of content
SPEAKERS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def add_event_messages(span: Span, facts: SpanFacts) -> None:
    """Adds messages from events that attributes have not set."""
    given: list[RawMessage] = []
    answered: list[RawMessage] = []
    for event in _sort_by_time(span.events):
        if event.name == DETAILS:
            _add_details(event, facts)
        elif event.name in SPEAKERS:
            given += _read_event_message(SPEAKERS[event.name], _read_body(event))
        elif event.name == CHOICE:
            _add_choice(answered, event, facts)
        elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            _add_content(event, facts)
    facts.input = facts.input or given or None
    facts.output = facts.output or answered or None


def _sort_by_time(events: list[SpanEvent]) -> list[SpanEvent]:
    """Sorts events by time if each has one, else keeps their order."""
    times = [event.time_ns for event in events]
    if any(time is None for time in times):
        return events
    return sorted(events, key=lambda event: event.time_ns or 0)


def _add_details(event: SpanEvent, facts: SpanFacts) -> None:
    body = decode(event.body)
    fields: Mapping[str, Any] = {**(body if type(body) is dict else {}), **event.attributes}
    facts.system = facts.system or join_text_parts(decode(fields.get("gen_ai.system_instructions")))
    facts.input = facts.input or read_messages(
        fields.get("gen_ai.input.messages"), facts, "gen_ai.input.messages"
    )
    facts.output = facts.output or read_messages(
        fields.get("gen_ai.output.messages"), facts, "gen_ai.output.messages"
    )


def _add_content(event: SpanEvent, facts: SpanFacts) -> None:
    """Reads an event with the whole input, or one with the whole output."""
    if event.name.endswith("prompt"):
        value = event.attributes.get("gen_ai.prompt")
        facts.input = facts.input or read_messages(value, facts, "gen_ai.prompt")
    else:
        value = event.attributes.get("gen_ai.completion")
        facts.output = facts.output or read_messages(value, facts, "gen_ai.completion")


def _add_choice(answered: list[RawMessage], event: SpanEvent, facts: SpanFacts) -> None:
    """Adds a choice; later ones are alternatives, except for Anthropic: blocks of one message."""
    body = _read_body(event)
    provider = first_text(event.attributes, "gen_ai.system", "gen_ai.provider.name") or facts.provider
    if body.get("index") not in (None, 0, "0") and provider != "anthropic":
        return
    inner = decode(body.get("message"))
    recorded = {**(inner if type(inner) is dict else {"content": inner}), "role": "assistant"}
    if "tool_calls" in body:
        recorded["tool_calls"] = body["tool_calls"]
    reason = first_text(body, "finish_reason")
    for message in _read_event_message("assistant", recorded):
        message.finish_reason = reason
        if answered and not message.content:
            answered[-1].calls += message.calls
        else:
            answered.append(message)
    facts.finish_reason = facts.finish_reason or reason


def _read_body(event: SpanEvent) -> dict[str, Any]:
    """The fields of a message: the body of a log record, else the attributes of a span event."""
    body = decode(event.body)
    if type(body) is dict:
        return body
    content = decode(first(event.attributes, "gen_ai.event.content"))
    if type(content) is dict:
        return content
    return {key: decode(value) for key, value in event.attributes.items()}


def _read_event_message(role: str, body: dict[str, Any]) -> list[RawMessage]:
    """Reads one message; empty if it was not captured, or holds tool definitions only."""
    content, calls = body.get("content"), decode(body.get("tool_calls"))
    if type(content) is dict:
        if "tools" in content:
            return []
        content = [content]
    if content in (None, ELIDED) and not calls:
        return []
    recorded: dict[str, Any] = {"role": role, "content": content}
    if role == "tool":
        recorded["tool_call_id"], recorded["name"] = body.get("id"), body.get("name")
    elif role == "assistant" and type(calls) is list:
        recorded["tool_calls"] = calls
    try:
        return read_message(recorded)
    except FieldError:
        return []
