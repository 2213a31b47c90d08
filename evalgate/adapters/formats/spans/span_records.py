"""Splits a file of spans into agent runs and builds a trace from each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.format import Identity, Reader, build_identity, no_identity
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.spans import assemble
from evalgate.adapters.formats.spans.embedded_trace import read_embedded_trace
from evalgate.adapters.formats.spans.encodings.container import SpanFile
from evalgate.adapters.formats.spans.groups import group_runs, has_agent_activity
from evalgate.adapters.formats.spans.log_placement import assign_logs
from evalgate.adapters.formats.spans.merging import add_logs, merge_duplicates
from evalgate.errors import TraceError
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.adapters.formats.core.read_limits import TraceLimits
    from evalgate.adapters.formats.spans.span import Span
    from evalgate.models.trace.trace import Trace, Warning_

SCENARIO_KEYS = ("evalgate.scenario.id", "evalgate.scenario_id")
TRIAL_KEY = "evalgate.trial"


@dataclass(slots=True)
class AgentRun:
    """The spans of one run, warnings about them, and the error that makes the run unreadable, if any."""

    spans: list[Span]
    problem: TraceError | None = None
    warnings: list[Warning_] = field(default_factory=list)


def build_span_reader(
    read_spans: Callable[[Sequence[Any], SpanFile], None],
    iter_trace_ids: Callable[[Sequence[Any]], Iterable[str]],
    unpack: Callable[[bytes, TraceLimits], Iterator[Any]] | None = None,
) -> Reader:
    """Builds the reader of one span encoding; several files are joined by their trace ids."""

    def split(documents: Any) -> Sequence[AgentRun]:
        span_file = SpanFile()
        read_spans(documents, span_file)
        return runs_from_file(span_file)

    return Reader(build=build, identify=identify, split=split, unpack=unpack, join_keys=iter_trace_ids)


def runs_from_file(span_file: SpanFile) -> list[AgentRun]:
    """One record for each run, and one for unreadable spans whose trace is unknown.

    Traces that record nothing about an agent (a health check, a queue) are left out with a warning if the
    file holds other runs; if it holds nothing else, the result is one record with that error.
    """
    spans, differing = merge_duplicates(span_file.spans)
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
        runs.append(AgentRun(group, problem, _conflicts(sum(differing.get(name, 0) for name in traces))))
    runs += [AgentRun([], problem) for problem in span_file.damaged.values()]
    if noise:
        _report_left_out(noise, runs)
    if span_file.unplaced:
        message = f"{_plural(span_file.unplaced, 'event')} without a trace id can be given to no run"
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
    trace.warnings += record.warnings
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
    message = f"of {_plural(count, 'span')} recorded more than once, and differently, what ended last counts"
    return [{"code": "span_conflict", "message": message, "where": "spans"}]


def _report_left_out(noise: list[list[Span]], runs: list[AgentRun]) -> None:
    spans, traces = _plural(sum(map(len, noise)), "span"), _plural(len(noise), "trace")
    subject = f"{spans} of {traces}, such as `{make_printable(noise[0][0].name)}`"
    _report(subject, f"{subject}, said nothing of an agent and are left out", runs)


def _report(error_text: str, warning_text: str, runs: list[AgentRun]) -> None:
    """Adds a warning to the first readable run; if there are no runs, the only record is an error."""
    readable = next((run for run in runs if run.problem is None), None)
    if readable is not None:
        readable.warnings.append({"code": "left_out", "message": warning_text, "where": "spans"})
    elif not runs:
        runs.append(AgentRun([], TraceError(f"no span says what an agent did: {error_text}")))


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
