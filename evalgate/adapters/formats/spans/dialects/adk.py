"""Reads the vocabulary of Google's Agent Development Kit: `gcp.vertex.agent.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.usage.provider_response import read_provider_response
from evalgate.adapters.formats.spans.dialects.attributes import (
    completed,
    decoded,
    first,
    messages,
    words,
)

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Facts, Span, SpanKind

REQUEST, RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
CONTEXT = "For context:"  # starts a report on other agents, which is not a user's message
NOTHING: tuple[Any, ...] = ("{}", {})
EMPTY = frozenset({"{}", "N/A", "<not serializable>"})


def kind_of(span: Span) -> SpanKind | None:
    """`inference` for a span with a non-empty model request; tools have an empty one."""
    request = span.attributes.get(REQUEST)
    if request is None or request in ("{}", {}):
        return None
    return "inference"


def add(span: Span, facts: Facts) -> None:
    """Adds request, response, tool arguments and tool result."""
    attributes = span.attributes
    if facts.kind == "tool":
        _add_tool(attributes, facts)
    facts.conversation_id = facts.conversation_id or words(attributes, "gcp.vertex.agent.session_id")
    if facts.kind != "inference" or REQUEST not in attributes:
        return
    facts.input = facts.input or messages(_told(attributes[REQUEST]), facts, REQUEST)
    for said in facts.input or []:
        if said.role == "user" and (said.content or "").startswith(CONTEXT):
            said.role = "system"
    facts.output = facts.output or messages(_told(attributes.get(RESPONSE)), facts, RESPONSE)
    answer = read_provider_response(decoded(attributes.get(RESPONSE)))
    facts.usage = completed(facts.usage, answer.usage)
    facts.finish_reason = facts.finish_reason or answer.finish_reason


def _add_tool(attributes: dict[str, Any], facts: Facts) -> None:
    """Ignores empty arguments with an empty result: ADK writes these if content is disabled."""
    given = first(attributes, "gcp.vertex.agent.tool_call_args")
    answered = first(attributes, "gcp.vertex.agent.tool_response")
    if given in NOTHING and answered in NOTHING:
        return
    facts.arguments = _told(given) if facts.arguments is None else facts.arguments
    told = _told(answered)
    facts.result = facts.result if told is None else told


def _told(value: object) -> object:
    """The value, or None for a placeholder."""
    return None if type(value) is str and value in EMPTY and value != "{}" else value
