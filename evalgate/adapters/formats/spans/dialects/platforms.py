"""Reads attributes of platforms with their own names for a span's kind, input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import amount
from evalgate.adapters.formats.core.python_literals import unwrapped
from evalgate.adapters.formats.messages.payload import carried
from evalgate.adapters.formats.spans.dialects.attributes import (
    completed,
    decoded,
    listed,
    tokens,
    usage_of,
    words,
)

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Facts, Span, SpanKind

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
PLATFORMS = (LANGFUSE, MLFLOW)


def kind_of(span: Span) -> SpanKind | None:
    """The kind by the platform's attribute; unknown values are `other`."""
    for platform in PLATFORMS:
        told = words(span.attributes, platform.kind)
        if told is not None:
            return KINDS.get(told.strip('"').lower(), "other")
    return None


def add(span: Span, facts: Facts) -> None:
    """Adds facts from the platform's attributes that no earlier dialect has set."""
    for platform in PLATFORMS:
        if platform.kind in span.attributes or platform.input in span.attributes:
            _add(platform, span, facts)
    facts.tags += [tag for tag in listed(span.attributes.get("langfuse.trace.tags")) if tag not in facts.tags]


def _add(platform: Platform, span: Span, facts: Facts) -> None:
    attributes = span.attributes
    given, answered = _plain(attributes.get(platform.input)), _plain(attributes.get(platform.output))
    facts.model = facts.model or words(
        {platform.model: _plain(attributes.get(platform.model))}, platform.model
    )
    _add_figures(platform, span, facts)
    for key, value in attributes.items():
        if key.startswith(platform.metadata):
            facts.metadata.setdefault(key.removeprefix(platform.metadata), value)
    if facts.kind == "tool":
        facts.tool_name = facts.tool_name or span.name or None
        facts.arguments = given if facts.arguments is None else facts.arguments
        facts.result = answered if facts.result is None else facts.result
    elif facts.kind in ("inference", "agent"):
        facts.input = facts.input or (None if given is None else carried(given, "user"))
        facts.output = facts.output or (None if answered is None else carried(answered, "assistant"))
        facts.agent = facts.agent or (span.name if facts.kind == "agent" else None)


def _plain(value: Any) -> Any:
    """Decodes a value from JSON text: MLflow writes every value as JSON, even text in quotes."""
    return unwrapped(value) if type(value) is str and value.startswith('"') else decoded(value)


def _add_figures(platform: Platform, span: Span, facts: Facts) -> None:
    told = decoded(span.attributes.get(platform.usage))
    if type(told) is dict:
        usage = usage_of(
            {
                "input_tokens": tokens(told, "input", "input_tokens"),
                "output_tokens": tokens(told, "output", "output_tokens"),
                "total_tokens": tokens(told, "total", "total_tokens"),
            }
        )
        facts.usage = completed(facts.usage, usage)
    cost: Any = decoded(span.attributes.get(platform.cost))
    if facts.cost_usd is None and type(cost) is dict:
        facts.cost_usd = amount(cost.get("total", cost.get("total_cost")), f"attributes.{platform.cost}")
