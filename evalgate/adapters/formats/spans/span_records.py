"""Splits a file of spans into agent runs and builds a trace from each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.format import Identity, Reader, identity, no_identity
from evalgate.adapters.formats.core.strict_json import shown
from evalgate.adapters.formats.spans import assemble
from evalgate.adapters.formats.spans.embedded_trace import carried
from evalgate.adapters.formats.spans.encodings.container import SpanFile
from evalgate.adapters.formats.spans.groups import grouped, is_of_an_agent
from evalgate.adapters.formats.spans.log_placement import placed
from evalgate.adapters.formats.spans.merging import once, with_logs
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


def span_reader(
    read: Callable[[Sequence[Any], SpanFile], None],
    trace_ids: Callable[[Sequence[Any]], Iterable[str]],
    unpack: Callable[[bytes, TraceLimits], Iterator[Any]] | None = None,
) -> Reader:
    """Builds the reader of one span encoding; several files are joined by their trace ids."""

    def split(documents: Any) -> Sequence[AgentRun]:
        held = SpanFile()
        read(documents, held)
        return runs_of(held)

    return Reader(build=build, identify=identify, split=split, unpack=unpack, join_keys=trace_ids)


def runs_of(held: SpanFile) -> list[AgentRun]:
    """One record for each run, and one for unreadable spans whose trace is unknown.

    Traces that record nothing about an agent (a health check, a queue) are left out with a warning if the
    file holds other runs; if it holds nothing else, the result is one record with that error.
    """
    spans, differing = once(held.spans)
    runs: list[AgentRun] = []
    noise: list[list[Span]] = []
    logs, ambiguous = placed(spans, held.logs)
    for group in grouped(with_logs(spans, logs)):
        traces = {span.trace_id for span in group}
        problems = [held.damaged.pop(name) for name in sorted(traces) if name in held.damaged]
        problem = problems[0] if problems else None
        if problem is None and not is_of_an_agent(group):
            noise.append(group)
            continue
        runs.append(AgentRun(group, problem, _differing(sum(differing.get(name, 0) for name in traces))))
    runs += [AgentRun([], problem) for problem in held.damaged.values()]
    if noise:
        _leave_out(noise, runs)
    if held.unplaced:
        said = f"{_counted(held.unplaced, 'event')} without a trace id can be given to no run"
        _tell(said, said, runs)
    if ambiguous:
        said = f"{_counted(ambiguous, 'event')} without a span id may belong to several model calls"
        _tell(said, f"{said}: left out", runs)
    return runs


def build(record: AgentRun) -> Trace:
    """Builds the trace of one run; raises TraceError if a part of it can't be read."""
    if record.problem is not None:
        raise record.problem
    trace = carried(record.spans) or assemble.build(record.spans)
    trace.warnings += record.warnings
    return trace


def identify(record: AgentRun) -> Identity:
    """Scenario and trial, if the readable spans record them."""
    told = [place for span in record.spans for place in (span.attributes, span.resource)]
    for place in told:
        for key in SCENARIO_KEYS:
            if key in place:
                trial = next((other[TRIAL_KEY] for other in told if TRIAL_KEY in other), None)
                return identity(place[key], trial)
    return no_identity(record)


def _differing(count: int) -> list[Warning_]:
    if not count:
        return []
    said = f"of {_counted(count, 'span')} recorded more than once, and differently, what ended last counts"
    return [{"code": "span_conflict", "message": said, "where": "spans"}]


def _leave_out(noise: list[list[Span]], runs: list[AgentRun]) -> None:
    spans, traces = _counted(sum(map(len, noise)), "span"), _counted(len(noise), "trace")
    what = f"{spans} of {traces}, such as `{shown(noise[0][0].name)}`"
    _tell(what, f"{what}, said nothing of an agent and are left out", runs)


def _tell(alone: str, beside: str, runs: list[AgentRun]) -> None:
    """Adds a warning to the first readable run; if there are no runs, the only record is an error."""
    told = next((run for run in runs if run.problem is None), None)
    if told is not None:
        told.warnings.append({"code": "left_out", "message": beside, "where": "spans"})
    elif not runs:
        runs.append(AgentRun([], TraceError(f"no span says what an agent did: {alone}")))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
