"""Notes what tracers left out of spans: their limits drop attributes and events, also those with messages and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.models.trace.trace import list_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.models.trace.trace import EvidenceKind, Trace

LIMITS = {
    "attributes": "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, or the limit of the tracer",
    "events": "raise OTEL_SPAN_EVENT_COUNT_LIMIT and OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT, or the limits of the tracer",
}
KINDS = (
    *("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "ai.operationId"),
    *("langfuse.observation.type", "langsmith.span.kind", "mlflow.spanType"),
)
"""Attributes that say what a span is; one of another kind than a tool's, a model's or an agent's holds no call."""
OF_AGENTS = ("gen_ai.", "llm.", "ai.", "traceloop.", "openinference.", "tool.", "mcp.")
MESSAGE_EVENTS = ("gen_ai.", "llm.")
NO_MESSAGE = "gen_ai.evaluation."


def note_dropped(trace: Trace, nodes: Sequence[SpanNode]) -> None:
    """Makes evidence incomplete that what was left out may have held.

    Events count where the tracer writes messages to events; links hold none.
    """
    speaking = {node.span.scope for node in nodes if _has_message_events(node)}
    for node in nodes:
        attributes, events = node.span.dropped
        if node.is_excluded:
            continue
        if attributes and _may_lack_calls(node):
            _note(trace, node, "attributes", attributes)
        elif events and node.facts.kind != "tool" and node.span.scope in speaking:
            _note(trace, node, "events", events)


def _has_message_events(node: SpanNode) -> bool:
    return any(
        event.body is not None or (event.name.startswith(MESSAGE_EVENTS) and not event.name.startswith(NO_MESSAGE))
        for event in node.span.events
    )


def _may_lack_calls(node: SpanNode) -> bool:
    """Whether it is the span of a tool, a model or an agent, or of an instrumentation that does not say what it is."""
    if node.facts.kind != "other":
        return True
    names = node.span.attributes
    return any(name.startswith(OF_AGENTS) for name in names) and not any(kind in names for kind in KINDS)


def _note(trace: Trace, node: SpanNode, what: str, count: int) -> None:
    counted = f"{count:,} {what}" if count > 1 else f"1 {what.removesuffix('s')}"
    reason = f"the tracer dropped {counted} of the span `{make_printable(node.span.name[:60])}`: {LIMITS[what]}"
    for kind in _list_lacking(trace, node):
        add_gap(trace, kind, reason)


def _list_lacking(trace: Trace, node: SpanNode) -> Sequence[EvidenceKind]:
    """What the span may have held: of the execution of a known tool, what no call of it has."""
    name = node.facts.tool_name
    if node.facts.kind != "tool" or name is None:
        return OF_MESSAGES
    calls = [call for call in trace.tool_calls if name in list_names(call)]
    found: list[EvidenceKind] = []
    if any(call["arguments"] is None and call["arguments_raw"] is None for call in calls):
        found.append("arguments")
    if any(call["result"] is None for call in calls):
        found.append("results")
    return found
