"""Groups spans into runs of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.embedded_trace import ATTRIBUTE as WHOLE
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.spans.span import Span

CONVERSATION_KEYS = ("gen_ai.conversation.id", "session.id")
# Attribute prefixes of instrumentations of agents and models, not of HTTP clients, queues or databases.
TELLING = (
    *("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.", "gcp.vertex.agent.", "pydantic_ai."),
    *("langfuse.", "langsmith.", "mlflow.span", "lk.", "mcp.", "tool.", "evalgate."),
)

DOING = frozenset({"inference", "tool", "agent", None})


def grouped(spans: Iterable[Span]) -> list[list[Span]]:
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
        mine = {span.span_id for span in trace}
        run, ids = open_runs.setdefault(conversation, (trace, mine))
        if run is trace or not ids.isdisjoint(mine):
            runs.append(trace)
        else:
            run += trace
            ids |= mine
    return runs


def is_of_an_agent(spans: Iterable[Span]) -> bool:
    """True if a span records what an agent, a model or a tool did, or can't be read.

    Spans with attributes of an instrumentation are checked first. Its spans outside of a run (the creation of
    an agent, an embedding) don't count.
    """
    asked_first = sorted(spans, key=lambda span: not _is_telling(span))
    return any(WHOLE in span.attributes or _kind(span) in DOING for span in asked_first)


def _is_telling(span: Span) -> bool:
    names = (*span.attributes, *(event.name for event in span.events))
    return any(name.startswith(TELLING) for name in names)


def is_request(span: Span) -> bool:
    """True for a readable span of a request to a model."""
    return _is_telling(span) and _kind(span) == "inference"


def _shared_conversations(traces: Iterable[list[Span]]) -> dict[str, str]:
    """The conversation of each trace if several traces name it and none of them has an agent span."""
    named: dict[str, list[list[Span]]] = {}
    for trace in traces:
        told = _conversations(trace)
        if len(told) == 1:
            named.setdefault(told.pop(), []).append(trace)
    return {
        trace[0].trace_id: conversation
        for conversation, several in named.items()
        if len(several) > 1 and not any(_has_agent(trace) for trace in several)
        for trace in several
    }


def _conversations(trace: Sequence[Span]) -> set[str]:
    """All conversation ids in the spans, from the first attribute key that has any."""
    for key in CONVERSATION_KEYS:
        values = [span.attributes.get(key) for span in trace]
        told = {value for value in values if isinstance(value, str) and value}
        if told:
            return told
    return set()


def _has_agent(trace: Iterable[Span]) -> bool:
    return any(_kind(span) in {"agent", None} for span in trace)


def _kind(span: Span) -> str | None:
    """The kind of the span; None if it can't be read."""
    try:
        return dialects.facts_of(span).kind
    except TraceError:
        return None
