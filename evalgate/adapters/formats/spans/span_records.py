"""Splits a file of spans into agent runs and builds a trace from each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from evalgate.adapters.formats.core.builder.call_outcomes import apply_exit_codes
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, find_gaps
from evalgate.adapters.formats.core.builder.side_fields import STATE_KEY, TRIAL_KEY
from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.core.format import Identity, Reader, build_identity, no_identity
from evalgate.adapters.formats.core.missing_rest import find_missing_rest
from evalgate.adapters.formats.core.strict_json import encode_json, make_printable
from evalgate.adapters.formats.core.usage import warn_of_doubts
from evalgate.adapters.formats.spans import assemble, dialects
from evalgate.adapters.formats.spans.dialects.attributes import EXCLUDED_ROLES, ROLE
from evalgate.adapters.formats.spans.dialects.platforms import clear_parents
from evalgate.adapters.formats.spans.span import BOUNDARY_KINDS, NO_SPAN, UNKNOWN, SpanFile
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.adapters.formats.core.format import TraceLimits
    from evalgate.adapters.formats.spans.span import Span, SpanEvent
    from evalgate.models.trace.trace import RunState, Trace, Warning_

ATTRIBUTE = "evalgate.trace"


def read_embedded_trace(spans: Sequence[Span]) -> Trace | None:
    """The trace of the first span that has one, or None. Raises TraceError."""
    value = next((span.attributes[ATTRIBUTE] for span in spans if ATTRIBUTE in span.attributes), None)
    if value is None:
        return None
    if type(value) is not str:
        raise FieldError(ATTRIBUTE, "is not text")
    from evalgate.adapters.formats.core.strict_json import decode
    from evalgate.adapters.formats.native import reader

    try:
        record = decode(value.encode())
        trace = reader.build(record)
        apply_exit_codes(trace)
        find_gaps(trace, record, reader.READER)
    except (TraceError, UnicodeEncodeError) as error:
        message = str(error) if isinstance(error, TraceError) else "is not text"
        raise FieldError(ATTRIBUTE, message) from None
    return trace


def read_recorded_state(spans: Sequence[Span]) -> RunState | None:
    """What the run left behind, as a span has it in JSON; raises FieldError if it is damaged, or two spans differ."""
    found = [span.attributes[STATE_KEY] for span in spans if STATE_KEY in span.attributes]
    if not found:
        return None
    if any(each != found[0] for each in found):
        raise FieldError(STATE_KEY, "differs between spans of one run: set it on the outermost one, at its end")
    from evalgate.adapters.formats.core.run_state import decode_state

    return decode_state(found[0], STATE_KEY)


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
    return any(ATTRIBUTE in span.attributes or _acts(span) or _kind(span) in RUN_KINDS for span in ordered)


def _acts(span: Span) -> bool:
    """Whether its kind alone shows it, whatever else the span records."""
    return ROLE not in span.attributes and dialects.find_kind(span) in BOUNDARY_KINDS


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


SCENARIO_KEYS = ("evalgate.scenario.id", "evalgate.scenario_id")


class AgentRun(Struct):
    """The spans of one run, warnings about them, and the error that makes the run unreadable, if any.

    `missing` says why spans of the run may be missing.
    """

    spans: list[Span]
    problem: TraceError | None = None
    warnings: list[Warning_] = field(default_factory=list)
    missing: str | None = None


def build_span_reader(
    read_spans: Callable[[Sequence[Any], SpanFile], None],
    iter_trace_ids: Callable[[Sequence[Any]], Iterable[str]],
    unpack: Callable[[bytes, TraceLimits], Iterator[Any]] | None = None,
) -> Reader:
    """Builds the reader of one span encoding; several files are joined by their trace ids."""

    def split(documents: Any) -> Sequence[AgentRun]:
        span_file = SpanFile(missing=find_missing_rest(documents))
        read_spans(documents, span_file)
        return runs_from_file(span_file)

    return Reader(build=build, identify=identify, shapes=(), split=split, unpack=unpack, join_keys=iter_trace_ids)


def runs_from_file(span_file: SpanFile) -> list[AgentRun]:
    """One record for each run, and one for unreadable spans whose trace is unknown.

    Traces that record nothing about an agent (a health check, a queue) are left out with a warning if the
    file holds other runs; if it holds nothing else, the result is one record with that error.
    """
    spans, differing, torn = merge_duplicates(clear_parents(span_file.spans))
    runs: list[AgentRun] = []
    noise: list[list[Span]] = []
    logs, ambiguous = assign_logs(spans, span_file.logs)
    for group in group_runs(add_logs(spans, logs)):
        traces = {span.trace_id for span in group}
        problems = [span_file.damaged.pop(name) for name in sorted(traces) if name in span_file.damaged]
        problem = problems[0] if problems else None
        if problem is None and not has_agent_activity(group):
            noise.append(group)
            continue
        conflicts = _conflicts(sum(differing.get(name, 0) for name in traces))
        missing = span_file.missing or (TORN if traces & torn else None)
        runs.append(AgentRun(group, problem, conflicts, missing))
    runs += [AgentRun([], problem) for problem in span_file.damaged.values()]
    if noise:
        _report_left_out(noise, runs)
    if span_file.unplaced:
        message = f"{_plural(span_file.unplaced, 'event')} without a trace id can't be assigned to a run"
        _report(message, message, runs)
    if ambiguous:
        message = f"{_plural(ambiguous, 'event')} without a span id may belong to several model calls"
        _report(message, f"{message}: left out", runs)
    return runs


def build(record: AgentRun) -> Trace:
    """Builds the trace of one run; raises TraceError if a part of it can't be read."""
    if record.problem is not None:
        raise record.problem
    trace = read_embedded_trace(record.spans) or assemble.build(record.spans)
    trace.state = read_recorded_state(record.spans) or trace.state
    trace.warnings += [*record.warnings, *_warn_of_tools_of_others(record.spans)]
    warn_of_doubts(trace)
    if record.missing is not None:
        add_gap(trace, "calls", record.missing)
    return trace


def identify(record: AgentRun) -> Identity:
    """Scenario and trial, if the readable spans record them."""
    attribute_maps = [attributes for span in record.spans for attributes in (span.attributes, span.resource)]
    for attributes in attribute_maps:
        for key in SCENARIO_KEYS:
            if key in attributes:
                trial = next((other[TRIAL_KEY] for other in attribute_maps if TRIAL_KEY in other), None)
                return build_identity(attributes[key], trial)
    return no_identity(record)


def _conflicts(count: int) -> list[Warning_]:
    if not count:
        return []
    message = (
        f"{_plural(count, 'span')} recorded more than once, with different content: the version that ended last is used"
    )
    return [{"code": "span_conflict", "message": message, "where": "spans"}]


def _warn_of_tools_of_others(spans: Iterable[Span]) -> list[Warning_]:
    """Names the spans of tools that say of themselves that another than the agent called them: they are left out."""
    others = (span for span in spans if ROLE in span.attributes and str(span.attributes[ROLE]) in EXCLUDED_ROLES)
    found = [span for span in others if dialects.find_kind(span) == "tool"]
    if not found:
        return []
    named, role = make_printable(found[0].name), found[0].attributes[ROLE]
    message = f"{_plural(len(found), 'span')} of tools, such as `{named}`, left out as those of a {role} (`{ROLE}`)"
    return [{"code": "left_out", "message": message, "where": "spans"}]


def _report_left_out(noise: list[list[Span]], runs: list[AgentRun]) -> None:
    spans, traces = _plural(sum(map(len, noise)), "span"), _plural(len(noise), "trace")
    subject = f"{spans} of {traces}, such as `{make_printable(noise[0][0].name)}`"
    _report(subject, f"{subject}, record nothing about an agent and are left out", runs)


def _report(error_text: str, warning_text: str, runs: list[AgentRun]) -> None:
    """Adds a warning to the first readable run; if there are no runs, the only record is an error."""
    readable = next((run for run in runs if run.problem is None), None)
    if readable is not None:
        readable.warnings.append({"code": "left_out", "message": warning_text, "where": "spans"})
    elif not runs:
        runs.append(AgentRun([], TraceError(f"no span records what an agent did: {error_text}")))


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def assign_logs(spans: Iterable[Span], logs: Sequence[Span]) -> tuple[list[Span], int]:
    """The records that have a span, and the number of ambiguous ones (several calls match, or no call does).

    With one model call in the trace, the record belongs to it; with several, to the one that ran at its time.
    Records of a trace without model calls are unchanged.
    """
    unplaced_traces = {log.trace_id for log in logs if log.span_id == NO_SPAN}
    requests: dict[str, list[Span]] = {}
    for span in spans if unplaced_traces else ():
        if span.trace_id in unplaced_traces and is_request(span):
            requests.setdefault(span.trace_id, []).append(span)
    found = [log if log.span_id != NO_SPAN else _assign_log(log, requests.get(log.trace_id, [])) for log in logs]
    assigned = [log for log in found if log is not None]
    return assigned, len(found) - len(assigned)


def _assign_log(log: Span, requests: Sequence[Span]) -> Span | None:
    if not requests:
        return log
    running = requests if len(requests) == 1 else [one for one in requests if _ran_at(one, log)]
    return replace(log, span_id=running[0].span_id) if len(running) == 1 else None


def _ran_at(request: Span, log: Span) -> bool:
    at = log.events[0].time_ns
    return (
        at is not None
        and request.start_ns is not None
        and request.end_ns is not None
        and request.start_ns <= at <= request.end_ns
    )


TORN = "copies of a span name different tools or arguments, of which only one is read"
_OF_ACT = re.compile(r"tool[._]name$|\.(?:arguments|parameters)$")


def merge_duplicates(spans: Iterable[Span]) -> tuple[list[Span], dict[str, int], set[str]]:
    """Each span once, for each trace the number of spans whose copies differ, and the traces where they do in an act.

    Of differing copies the one that ended last counts: tracers write a span again when they know more of it. They
    don't write another tool or other arguments then.
    """
    torn: set[str] = set()
    kept: dict[tuple[str, str], Span] = {}
    conflicts: dict[str, set[str]] = {}
    for span in spans:
        key = span.trace_id, span.span_id
        other = kept.setdefault(key, span)
        if other is span or _sort_key(other) == _sort_key(span):
            continue
        conflicts.setdefault(span.trace_id, set()).add(span.span_id)
        if any(
            _OF_ACT.search(name) and span.attributes.get(name, value) != value
            for name, value in other.attributes.items()
        ):
            torn.add(span.trace_id)
        kept[key] = max(other, span, key=_sort_key)
    return list(kept.values()), {trace: len(ids) for trace, ids in conflicts.items()}, torn


def add_logs(spans: list[Span], logs: Iterable[Span]) -> list[Span]:
    """Adds log records to the events of the spans they name, ordered by time.

    Records of a missing span become a span that is known only from them.
    """
    known = {(span.trace_id, span.span_id): span for span in spans}
    added: dict[tuple[str, str], Span] = {}
    seen: dict[tuple[str, str], set[str]] = {}
    for log in logs:
        key = log.trace_id, log.span_id
        content = encode_json(list(log.events[0]))
        if content in seen.setdefault(key, set()):
            continue
        seen[key].add(content)
        span = known.get(key) or added.setdefault(key, log)
        if span is not log:
            span.events += log.events
            span.dropped = span.dropped[0], span.dropped[1] + log.dropped[1]
    for key in seen:
        span = known.get(key) or added[key]
        span.events.sort(key=_sort_time)
        if span.is_from_logs:
            span.start_ns = span.events[0].time_ns
    return [*spans, *added.values()]


def _sort_key(span: Span) -> tuple[int, int, str]:
    """Equal for equal content; scope and resource may differ, they belong to the writer of the copy."""
    content = [span.name, span.parent_id, span.start_ns, span.has_failed, span.status_message]
    text = encode_json([content, span.attributes, [list(event) for event in span.events]])
    return -1 if span.end_ns is None else span.end_ns, len(span.attributes), text


def _sort_time(event: SpanEvent) -> int:
    return UNKNOWN if event.time_ns is None else event.time_ns
