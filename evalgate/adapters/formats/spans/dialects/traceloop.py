"""Reads the vocabulary of OpenLLMetry (Traceloop) that extends the GenAI conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.python_literals import unwrapped
from evalgate.adapters.formats.messages.payload import carried
from evalgate.adapters.formats.spans.dialects.attributes import (
    decoded,
    first,
    flattened,
    tokens,
    usage_of,
    words,
)
from evalgate.adapters.formats.spans.dialects.flat_messages import traceloop_said

if TYPE_CHECKING:
    from typing import Any

    from evalgate.adapters.formats.core.build.raw_message import RawMessage
    from evalgate.adapters.formats.spans.span import Facts, Span, SpanKind
    from evalgate.models.trace.trace import Role

KINDS: dict[str, SpanKind] = {"workflow": "agent", "agent": "agent", "tool": "tool", "task": "other"}
REQUESTS: dict[str, SpanKind] = {"chat": "inference", "completion": "inference", "embedding": "excluded"}
ASSOCIATED = "traceloop.association.properties."


def kind_of(span: Span) -> SpanKind | None:
    """The kind by `traceloop.span.kind`, else by the type of request."""
    kind = words(span.attributes, "traceloop.span.kind")
    if kind is not None:
        return KINDS.get(kind, "other")
    request = words(span.attributes, "llm.request.type")
    return None if request is None else REQUESTS.get(request, "other")


def add(span: Span, facts: Facts) -> None:
    """Adds facts that the conventions do not cover, or named otherwise in earlier versions."""
    attributes = span.attributes
    facts.input = facts.input or traceloop_said(flattened(attributes, "gen_ai.prompt"), "user") or None
    answered = traceloop_said(flattened(attributes, "gen_ai.completion"), "assistant")
    facts.output = facts.output or answered or None
    if facts.finish_reason is None and answered:
        facts.finish_reason = answered[-1].finish_reason
    if facts.usage is not None and facts.usage["reasoning_output_tokens"] is None:
        facts.usage["reasoning_output_tokens"] = tokens(attributes, "llm.usage.reasoning_tokens")
    if facts.usage is None:
        facts.usage = usage_of({"total_tokens": tokens(attributes, "llm.usage.total_tokens")})
    if facts.tool_definitions is None:
        facts.tool_definitions = _functions(attributes)
    for key, value in attributes.items():
        if key.startswith(ASSOCIATED):
            facts.metadata.setdefault(key.removeprefix(ASSOCIATED), value)
    if words(attributes, "traceloop.span.kind") is not None:
        _add_entity(span, facts)


def _functions(attributes: dict[str, Any]) -> list[dict[str, Any]] | None:
    return [
        {
            "name": one["name"],
            "description": one.get("description"),
            "parameters": decoded(one.get("parameters")),
            "type": "function",
        }
        for one in flattened(attributes, "llm.request.functions")
        if type(one.get("name")) is str
    ] or None


def _add_entity(span: Span, facts: Facts) -> None:
    attributes = span.attributes
    name = words(attributes, "traceloop.entity.name", "traceloop.workflow.name")
    given = decoded(attributes.get("traceloop.entity.input"))
    answered = decoded(attributes.get("traceloop.entity.output"))
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or name or span.name.removesuffix(".tool")
        facts.arguments = _given(given if facts.arguments is None else facts.arguments)
        facts.result = _answer(answered if facts.result is None else facts.result)
    elif facts.kind == "agent":
        facts.agent = facts.agent or name
        facts.input = facts.input or _said(_inner(given, "inputs", "args"), "user")
        facts.output = facts.output or _said(_inner(answered, "outputs", "output"), "assistant")


def _given(value: Any) -> Any:
    """The arguments, without the tags and metadata that LangChain's callbacks add."""
    told = decoded(value)
    if type(told) is not dict or "input_str" not in told:
        return value
    inputs = decoded(told.get("inputs"))
    return inputs if type(inputs) is dict else unwrapped(told["input_str"])


def _answer(value: Any) -> Any:
    """The result, without the wrapper that LangChain's callbacks add."""
    told = decoded(value)
    if type(told) is dict and told and set(told) <= {"output", "outputs", "kwargs"}:
        return first(told, "output", "outputs")
    return value


def _inner(value: Any, *keys: str) -> Any:
    """The value inside a framework's wrapper of arguments or results."""
    if type(value) is not dict:
        return value
    found = first(value, *keys)
    return decoded(found) if found is not None else value


def _said(value: Any, speaker: Role) -> list[RawMessage] | None:
    """Messages from text or messages; None for other state of a chain."""
    return None if value is None else carried(value, speaker)
