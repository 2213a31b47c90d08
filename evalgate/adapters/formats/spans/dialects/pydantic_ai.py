"""Reads what Pydantic AI and Logfire add: an agent's whole conversation and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.spans.dialects.attributes import decode, first, first_text, read_messages

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

CONVERSATION_KEYS = ("pydantic_ai.all_messages", "all_messages_events")
TOOL_ARGUMENTS, TOOL_RESULT = "tool_arguments", "tool_response"


def kind_of(span: Span) -> SpanKind | None:
    """`agent` for a span with a whole conversation; a tool's span in older versions names no operation."""
    attributes = span.attributes
    if first(attributes, *CONVERSATION_KEYS, "final_result") is not None and "agent_name" in attributes:
        return "agent"
    return "tool" if TOOL_ARGUMENTS in attributes and "gen_ai.tool.name" in attributes else None


def add(span: Span, facts: SpanFacts) -> None:
    """Adds the conversation of an agent, and a tool's arguments and result as older versions name them."""
    attributes = span.attributes
    if facts.kind == "tool":
        if facts.arguments is None:
            facts.arguments = attributes.get(TOOL_ARGUMENTS)
        if facts.result is None:
            facts.result = attributes.get(TOOL_RESULT)
        facts.tool_name = facts.tool_name or first_text(attributes, "gen_ai.tool.name")
    if facts.kind != "agent" or "agent_name" not in attributes:
        return
    facts.agent = facts.agent or first_text(attributes, "agent_name")
    facts.framework = facts.framework or "pydantic-ai"
    conversation = read_messages(first(attributes, *CONVERSATION_KEYS), facts, CONVERSATION_KEYS[0])
    if conversation:
        facts.input, facts.output = conversation, None
    result = _read_result(decode(attributes.get("final_result")))
    if result is not None:
        facts.output = [RawMessage("assistant", result)]
        if conversation and conversation[-1].role == "assistant" and conversation[-1].content == result:
            facts.input, facts.output = conversation[:-1], [conversation[-1]]


def _read_result(value: Any) -> str | None:
    """The result as text, or as JSON text of a structure."""
    if value is None or type(value) is str:
        return value or None
    return encode_json(value)
