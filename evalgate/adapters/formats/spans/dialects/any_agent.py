"""Reads what any-agent (Mozilla) adds to the GenAI conventions: `gen_ai.output`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
from evalgate.adapters.formats.spans.dialects.attributes import decode, dollars, first_text

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

OUTPUT, ARGUMENTS = "gen_ai.output", "gen_ai.tool.args"
NAME = "tool.name"


def kind_of(_span: Span) -> SpanKind | None:
    """Always None: every span has the kind attribute of the GenAI conventions."""
    return None


def add(span: Span, facts: SpanFacts) -> None:
    """Adds arguments and result of a tool, output and cost of a model call."""
    attributes = span.attributes
    if facts.kind == "tool":
        facts.arguments = attributes.get(ARGUMENTS) if facts.arguments is None else facts.arguments
        facts.result = attributes.get(OUTPUT) if facts.result is None else facts.result
    elif facts.kind == "inference":
        facts.output = facts.output or _read_output(attributes.get(OUTPUT))
        costs = [dollars(attributes, f"gen_ai.usage.{part}_cost") for part in ("input", "output")]
        if facts.cost_usd is None and costs[0] is not None and costs[1] is not None:
            facts.cost_usd = costs[0] + costs[1]


def _read_output(value: Any) -> list[RawMessage] | None:
    """Reads tool calls from a list of names and arguments, else text."""
    calls = decode(value)
    if type(calls) is list and calls and all(_is_call(one) for one in calls):
        return [RawMessage("assistant", calls=[ToolRequest(None, one[NAME], one.get("tool.args")) for one in calls])]
    text = first_text({OUTPUT: value}, OUTPUT)
    return None if text is None else [RawMessage("assistant", text)]


def _is_call(value: Any) -> bool:
    return type(value) is dict and type(value.get(NAME)) is str and bool(value[NAME])
