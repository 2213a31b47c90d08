"""Reads messages from span events and log records, in two versions of the GenAI conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.messages.genai import words_of_parts
from evalgate.adapters.formats.messages.roles import read_message
from evalgate.adapters.formats.spans.dialects.attributes import decoded, first, messages, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.core.build.raw_message import RawMessage
    from evalgate.adapters.formats.spans.span import Facts, Span, SpanEvent

DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
ELIDED = "<elided>"  # what Google's agent kit writes in place of content
SPEAKERS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def told_in_events(span: Span, facts: Facts) -> None:
    """Adds messages from events that attributes have not set."""
    given: list[RawMessage] = []
    answered: list[RawMessage] = []
    for event in _in_time(span.events):
        if event.name == DETAILS:
            _add_details(event, facts)
        elif event.name in SPEAKERS:
            given += _said(SPEAKERS[event.name], _body(event))
        elif event.name == CHOICE:
            _add_choice(answered, event, facts)
        elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            _add_content(event, facts)
    facts.input = facts.input or given or None
    facts.output = facts.output or answered or None


def _in_time(events: list[SpanEvent]) -> list[SpanEvent]:
    """Sorts events by time if each has one, else keeps their order."""
    times = [event.time_ns for event in events]
    if any(time is None for time in times):
        return events
    return sorted(events, key=lambda event: event.time_ns or 0)


def _add_details(event: SpanEvent, facts: Facts) -> None:
    body = decoded(event.body)
    told: Mapping[str, Any] = {**(body if type(body) is dict else {}), **event.attributes}
    facts.system = facts.system or words_of_parts(decoded(told.get("gen_ai.system_instructions")))
    facts.input = facts.input or messages(told.get("gen_ai.input.messages"), facts, "gen_ai.input.messages")
    facts.output = facts.output or messages(
        told.get("gen_ai.output.messages"), facts, "gen_ai.output.messages"
    )


def _add_content(event: SpanEvent, facts: Facts) -> None:
    """Reads an event with the whole input, or one with the whole output."""
    if event.name.endswith("prompt"):
        value = event.attributes.get("gen_ai.prompt")
        facts.input = facts.input or messages(value, facts, "gen_ai.prompt")
    else:
        value = event.attributes.get("gen_ai.completion")
        facts.output = facts.output or messages(value, facts, "gen_ai.completion")


def _add_choice(answered: list[RawMessage], event: SpanEvent, facts: Facts) -> None:
    """Adds a choice; later ones are alternatives, except for Anthropic: blocks of one message."""
    body = _body(event)
    provider = words(event.attributes, "gen_ai.system", "gen_ai.provider.name") or facts.provider
    if body.get("index") not in (None, 0, "0") and provider != "anthropic":
        return
    inner = decoded(body.get("message"))
    told = {**(inner if type(inner) is dict else {"content": inner}), "role": "assistant"}
    if "tool_calls" in body:
        told["tool_calls"] = body["tool_calls"]
    reason = words(body, "finish_reason")
    for said in _said("assistant", told):
        said.finish_reason = reason
        if answered and not said.content:
            answered[-1].calls += said.calls
        else:
            answered.append(said)
    facts.finish_reason = facts.finish_reason or reason


def _body(event: SpanEvent) -> dict[str, Any]:
    """The fields of a message: the body of a log record, else the attributes of a span event."""
    body = decoded(event.body)
    if type(body) is dict:
        return body
    told = decoded(first(event.attributes, "gen_ai.event.content"))
    if type(told) is dict:
        return told
    return {key: decoded(value) for key, value in event.attributes.items()}


def _said(role: str, body: dict[str, Any]) -> list[RawMessage]:
    """Reads one message; empty if it was not captured, or holds tool definitions only."""
    content, calls = body.get("content"), decoded(body.get("tool_calls"))
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
