"""The runs of agents that a file of spans holds, each ready to become a trace."""

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
    """The spans of one run, what to say beside them, and why they can't be trusted, if so."""

    spans: list[Span]
    problem: TraceError | None = None
    warnings: list[Warning_] = field(default_factory=list)


def span_reader(
    read: Callable[[Sequence[Any], SpanFile], None],
    trace_ids: Callable[[Sequence[Any]], Iterable[str]],
    unpack: Callable[[bytes, TraceLimits], Iterator[Any]] | None = None,
) -> Reader:
    """The reader of a container of spans: `read` takes the spans out, files join over their trace ids."""

    def split(documents: Any) -> Sequence[AgentRun]:
        held = SpanFile()
        read(documents, held)
        return runs_of(held)

    return Reader(build=build, identify=identify, split=split, unpack=unpack, join_keys=trace_ids)


def runs_of(held: SpanFile) -> list[AgentRun]:
    """One record a run, and one for what can't be read of spans without a trace.

    Traces without a word about an agent (a health check, a queue) are left out where the file holds others,
    and counted; a file of nothing else is one record that says so.
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
    """The trace of one run; raises TraceError where a part of it can't be read."""
    if record.problem is not None:
        raise record.problem
    trace = carried(record.spans) or assemble.build(record.spans)
    trace.warnings += record.warnings
    return trace


def identify(record: AgentRun) -> Identity:
    """Scenario and trial, as far as the spans that can be read say them."""
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
    """Beside the first run that can be read; where there is none at all it is the whole answer."""
    told = next((run for run in runs if run.problem is None), None)
    if told is not None:
        told.warnings.append({"code": "left_out", "message": beside, "where": "spans"})
    elif not runs:
        runs.append(AgentRun([], TraceError(f"no span says what an agent did: {alone}")))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
