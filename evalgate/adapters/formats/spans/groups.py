"""Which spans are one run of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.embedded_trace import ATTRIBUTE as WHOLE
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.spans.span import Span

CONVERSATION_KEYS = ("gen_ai.conversation.id", "session.id")
# What instrumentors of agents and models write; HTTP clients, queues and databases don't.
TELLING = (
    *("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.", "gcp.vertex.agent.", "pydantic_ai."),
    *("langfuse.", "langsmith.", "mlflow.span", "lk.", "mcp.", "tool.", "evalgate."),
)

DOING = frozenset({"inference", "tool", "agent", None})


def grouped(spans: Iterable[Span]) -> list[list[Span]]:
    """One list a run, in the order in which their first spans come.

    A trace id is a run. Several are one only where nothing around the model's calls was recorded, so that
    each call became a trace of its own: they name the same conversation and none of them has an agent's
    span. A session of several runs of an agent stays several.
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
    """True where a span says what an agent, a model or a tool did, or can't be read.

    Those in the words of an instrumentation are asked first: what it made beside a run (an agent that was
    created, an embedding) is none.
    """
    asked_first = sorted(spans, key=lambda span: not _is_telling(span))
    return any(WHOLE in span.attributes or _kind(span) in DOING for span in asked_first)


def _is_telling(span: Span) -> bool:
    names = (*span.attributes, *(event.name for event in span.events))
    return any(name.startswith(TELLING) for name in names)


def is_request(span: Span) -> bool:
    """True for a span of a request to a model, as far as it can be read."""
    return _is_telling(span) and _kind(span) == "inference"


def _shared_conversations(traces: Iterable[list[Span]]) -> dict[str, str]:
    """The conversation of each trace, where more than one trace names it and none of those has an agent."""
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
    """All conversations that the spans name, by the surer of the two names."""
    for key in CONVERSATION_KEYS:
        values = [span.attributes.get(key) for span in trace]
        told = {value for value in values if isinstance(value, str) and value}
        if told:
            return told
    return set()


def _has_agent(trace: Iterable[Span]) -> bool:
    return any(_kind(span) in {"agent", None} for span in trace)


def _kind(span: Span) -> str | None:
    """What the span stands for; None where that can't be read."""
    try:
        return dialects.facts_of(span).kind
    except TraceError:
        return None
