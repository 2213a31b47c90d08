"""Reads attributes of platforms with their own names for a span's kind, input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import amount
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.messages.sniff_messages import read_payload
from evalgate.adapters.formats.spans.dialects.attributes import (
    build_usage,
    complete,
    decode,
    first_text,
    list_texts,
    tokens,
)

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Usage

KINDS: dict[str, SpanKind] = {
    "generation": "inference",
    "llm": "inference",
    "chat_model": "inference",
    "agent": "agent",
    "tool": "tool",
    "embedding": "excluded",
    "evaluator": "excluded",
}


class Platform(NamedTuple):
    """A platform's attribute names."""

    kind: str
    input: str
    output: str
    usage: str
    model: str
    cost: str
    metadata: str


LANGFUSE = Platform(
    kind="langfuse.observation.type",
    input="langfuse.observation.input",
    output="langfuse.observation.output",
    usage="langfuse.observation.usage_details",
    model="langfuse.observation.model.name",
    cost="langfuse.observation.cost_details",
    metadata="langfuse.trace.metadata.",
)
MLFLOW = Platform(
    kind="mlflow.spanType",
    input="mlflow.spanInputs",
    output="mlflow.spanOutputs",
    usage="mlflow.chat.tokenUsage",
    model="mlflow.llm.model",
    cost="mlflow.llm.cost",
    metadata="mlflow.trace.metadata.",
)
TRACE_USAGE, TRACE_COST = "mlflow.trace.tokenUsage", "mlflow.trace.cost"
PLATFORMS = (LANGFUSE, MLFLOW)


def kind_of(span: Span) -> SpanKind | None:
    """The kind by the platform's attribute; unknown values are `other`."""
    for platform in PLATFORMS:
        kind = first_text(span.attributes, platform.kind)
        if kind is not None:
            return KINDS.get(kind.strip('"').lower(), "other")
    return None


def add(span: Span, facts: SpanFacts) -> None:
    """Adds facts from the platform's attributes that no earlier dialect has set."""
    for platform in PLATFORMS:
        if platform.kind in span.attributes or platform.input in span.attributes:
            _add(platform, span, facts)
    if MLFLOW.kind in span.attributes and span.parent_id is None:
        _add_whole_trace(span, facts)
    facts.tags += [tag for tag in list_texts(span.attributes.get("langfuse.trace.tags")) if tag not in facts.tags]


def _add(platform: Platform, span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    given, answered = _parse(attributes.get(platform.input)), _parse(attributes.get(platform.output))
    facts.model = facts.model or first_text({platform.model: _parse(attributes.get(platform.model))}, platform.model)
    _add_usage(platform, span, facts)
    for key, value in attributes.items():
        if key.startswith(platform.metadata):
            facts.metadata.setdefault(key.removeprefix(platform.metadata), value)
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or span.name or None
        facts.arguments = given if facts.arguments is None else facts.arguments
        facts.result = answered if facts.result is None else facts.result
    elif facts.kind in ("inference", "agent"):
        facts.input = facts.input or (None if given is None else read_payload(given, "user"))
        facts.output = facts.output or (None if answered is None else read_payload(answered, "assistant"))
        facts.agent = facts.agent or (span.name if facts.kind == "agent" else None)


def _add_whole_trace(span: Span, facts: SpanFacts) -> None:
    """Adds tokens and cost of the whole trace to its first span, which is the agent's unless it is a request."""
    usage = _read_usage(span.resource.get(TRACE_USAGE))
    cost = decode(span.resource.get(TRACE_COST))
    total = amount(cost.get("total_cost"), TRACE_COST) if type(cost) is dict else None
    if usage is None and total is None:
        return
    if facts.kind == "other":
        facts.kind = "agent"
        _add(MLFLOW, span, facts)
    if facts.usage is None:
        facts.usage, facts.is_metered = usage, False
    facts.cost_usd = total if facts.cost_usd is None else facts.cost_usd


def _parse(value: Any) -> Any:
    """Decodes a value from JSON text: MLflow writes every value as JSON, even text in quotes."""
    return unwrap_text(value) if type(value) is str and value.startswith('"') else decode(value)


def _add_usage(platform: Platform, span: Span, facts: SpanFacts) -> None:
    facts.usage = complete(facts.usage, _read_usage(span.attributes.get(platform.usage)))
    cost: Any = decode(span.attributes.get(platform.cost))
    if facts.cost_usd is None and type(cost) is dict:
        facts.cost_usd = amount(cost.get("total", cost.get("total_cost")), f"attributes.{platform.cost}")


def _read_usage(value: Any) -> Usage | None:
    counts = decode(value)
    if type(counts) is not dict:
        return None
    return build_usage(
        {
            "input_tokens": tokens(counts, "input", "input_tokens"),
            "output_tokens": tokens(counts, "output", "output_tokens"),
            "total_tokens": tokens(counts, "total", "total_tokens"),
        }
    )
