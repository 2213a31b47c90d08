"""Reads what Pydantic AI and Logfire add: an agent's whole conversation and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, written
from evalgate.adapters.formats.spans.dialects.attributes import decoded, first, messages, words

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Facts, Span, SpanKind

WHOLE = ("pydantic_ai.all_messages", "all_messages_events")
TOOL_ARGUMENTS, TOOL_RESULT = "tool_arguments", "tool_response"


def kind_of(span: Span) -> SpanKind | None:
    """`agent` for a span with a whole conversation; a tool's span in older versions names no operation."""
    attributes = span.attributes
    if first(attributes, *WHOLE, "final_result") is not None and "agent_name" in attributes:
        return "agent"
    return "tool" if TOOL_ARGUMENTS in attributes and "gen_ai.tool.name" in attributes else None


def add(span: Span, facts: Facts) -> None:
    """Adds the conversation of an agent, and a tool's arguments and result as older versions name them."""
    attributes = span.attributes
    if facts.kind == "tool":
        if facts.arguments is None:
            facts.arguments = attributes.get(TOOL_ARGUMENTS)
        if facts.result is None:
            facts.result = attributes.get(TOOL_RESULT)
        facts.tool_name = facts.tool_name or words(attributes, "gen_ai.tool.name")
    if facts.kind != "agent" or "agent_name" not in attributes:
        return
    facts.agent = facts.agent or words(attributes, "agent_name")
    facts.framework = facts.framework or "pydantic-ai"
    whole = messages(first(attributes, *WHOLE), facts, WHOLE[0])
    if whole:
        facts.input, facts.output = whole, None
    result = _result(decoded(attributes.get("final_result")))
    if result is not None:
        facts.output = [RawMessage("assistant", result)]
        if whole and whole[-1].role == "assistant" and whole[-1].content == result:
            facts.input, facts.output = whole[:-1], [whole[-1]]


def _result(value: Any) -> str | None:
    """The result as text, or as JSON text of a structure."""
    if value is None or type(value) is str:
        return value or None
    return written(value)
