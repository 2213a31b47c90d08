"""Reads the vocabulary of Google's Agent Development Kit: `gcp.vertex.agent.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.spans.dialects.attributes import complete, decode, first, first_text, read_messages

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

REQUEST, RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
CONTEXT = "For context:"  # starts a report on other agents, which is not a user's message
EMPTY_OBJECTS: tuple[Any, ...] = ("{}", {})
PLACEHOLDERS = frozenset({"{}", "N/A", "<not serializable>"})


def kind_of(span: Span) -> SpanKind | None:
    """`inference` for a span with a non-empty model request; tools have an empty one."""
    request = span.attributes.get(REQUEST)
    if request is None or request in ("{}", {}):
        return None
    return "inference"


def add(span: Span, facts: SpanFacts) -> None:
    """Adds request, response, tool arguments and tool result."""
    attributes = span.attributes
    if facts.kind == "tool":
        _add_tool(attributes, facts)
    facts.conversation_id = facts.conversation_id or first_text(attributes, "gcp.vertex.agent.session_id")
    if facts.kind != "inference" or REQUEST not in attributes:
        return
    facts.input = facts.input or read_messages(_drop_placeholder(attributes[REQUEST]), facts, REQUEST)
    for message in facts.input or []:
        if message.role == "user" and (message.content or "").startswith(CONTEXT):
            message.role = "system"
    facts.output = facts.output or read_messages(_drop_placeholder(attributes.get(RESPONSE)), facts, RESPONSE)
    answer = read_provider_response(decode(attributes.get(RESPONSE)))
    facts.usage = complete(facts.usage, answer.usage)
    facts.finish_reason = facts.finish_reason or answer.finish_reason


def _add_tool(attributes: dict[str, Any], facts: SpanFacts) -> None:
    """Ignores empty arguments with an empty result: ADK writes these if content is disabled."""
    given = first(attributes, "gcp.vertex.agent.tool_call_args")
    answered = first(attributes, "gcp.vertex.agent.tool_response")
    if given in EMPTY_OBJECTS and answered in EMPTY_OBJECTS:
        return
    facts.arguments = _drop_placeholder(given) if facts.arguments is None else facts.arguments
    result = _drop_placeholder(answered)
    facts.result = facts.result if result is None else result


def _drop_placeholder(value: object) -> object:
    """The value, or None for a placeholder."""
    return None if type(value) is str and value in PLACEHOLDERS and value != "{}" else value
