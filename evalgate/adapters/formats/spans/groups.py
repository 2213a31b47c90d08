"""Groups spans into runs of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.embedded_trace import ATTRIBUTE
from evalgate.adapters.formats.spans.tree import BOUNDARY_KINDS
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.spans.span import Span

CONVERSATION_KEYS = ("gen_ai.conversation.id", "session.id")
# Attribute prefixes of instrumentations of agents and models, not of HTTP clients, queues or databases.
AGENT_PREFIXES = (
    *("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.", "gcp.vertex.agent.", "pydantic_ai."),
    *("langfuse.", "langsmith.", "mlflow.span", "lk.", "mcp.", "tool.", "evalgate."),
)

RUN_KINDS = BOUNDARY_KINDS | {None}


def group_runs(spans: Iterable[Span]) -> list[list[Span]]:
    """Groups spans by run, in the order of each run's first span.

    One trace id is one run. Several traces are one run only if nothing around the model calls was recorded,
    so that each call became a separate trace: they name the same conversation and none has an agent span.
    Several agent runs of one session stay separate.
    """
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    runs: list[list[Span]] = []
    open_runs: dict[str, tuple[list[Span], set[str]]] = {}
    shared = _shared_conversations(traces.values())
    for trace_id, trace in traces.items():
        conversation = shared.get(trace_id)
        if conversation is None:
            runs.append(trace)
            continue
        own_ids = {span.span_id for span in trace}
        run, ids = open_runs.setdefault(conversation, (trace, own_ids))
        if run is trace or not ids.isdisjoint(own_ids):
            runs.append(trace)
        else:
            run += trace
            ids |= own_ids
    return runs


def has_agent_activity(spans: Iterable[Span]) -> bool:
    """True if a span records what an agent, a model or a tool did, or can't be read.

    Spans with attributes of an instrumentation are checked first. Its spans outside of a run (the creation of
    an agent, an embedding) don't count.
    """
    ordered = sorted(spans, key=lambda span: not _is_instrumented(span))
    return any(ATTRIBUTE in span.attributes or _kind(span) in RUN_KINDS for span in ordered)


def _is_instrumented(span: Span) -> bool:
    names = (*span.attributes, *(event.name for event in span.events))
    return any(name.startswith(AGENT_PREFIXES) for name in names)


def is_request(span: Span) -> bool:
    """True for a readable span of a request to a model."""
    return _is_instrumented(span) and _kind(span) == "inference"


def _shared_conversations(traces: Iterable[list[Span]]) -> dict[str, str]:
    """The conversation of each trace if several traces name it and none of them has an agent span."""
    named: dict[str, list[list[Span]]] = {}
    for trace in traces:
        ids = _conversation_ids(trace)
        if len(ids) == 1:
            named.setdefault(ids.pop(), []).append(trace)
    return {
        trace[0].trace_id: conversation
        for conversation, several in named.items()
        if len(several) > 1 and not any(_has_agent(trace) for trace in several)
        for trace in several
    }


def _conversation_ids(trace: Sequence[Span]) -> set[str]:
    """All conversation ids in the spans, from the first attribute key that has any."""
    for key in CONVERSATION_KEYS:
        values = [span.attributes.get(key) for span in trace]
        ids = {value for value in values if isinstance(value, str) and value}
        if ids:
            return ids
    return set()


def _has_agent(trace: Iterable[Span]) -> bool:
    return any(_kind(span) in {"agent", None} for span in trace)


def _kind(span: Span) -> str | None:
    """The kind of the span; None if it can't be read."""
    try:
        return dialects.read_facts(span).kind
    except TraceError:
        return None
