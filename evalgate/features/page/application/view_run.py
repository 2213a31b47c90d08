"""Makes the HTML page of a finished run: its results, and the conversations that fit into the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

from evalgate.application.documents.run_documents import kinds_of
from evalgate.application.evaluation.trajectories import source_of
from evalgate.application.judge.compare_finished import find_own_baseline, read_own_traces
from evalgate.errors import Problem, SettingError
from evalgate.features.page.application.better_scenarios import BetterScenarios, copy_changes, find_counterpart
from evalgate.features.page.reporting.build_page import place_of
from evalgate.features.page.reporting.page_builder import PageBuilder
from evalgate.features.page.reporting.trace_block import encode_trace_block
from evalgate.features.page.reporting.trace_details import describe_trace
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.trace.trace import NO_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalgate.features.page.reporting.page_builder import ComparedTrial, RunPage
    from evalgate.models.results.baseline_run import BaselineRun, BaselineTrial, TracePosition
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.trial_doc import TrialDoc
    from evalgate.models.trace.trace import ToolKinds, Trace
    from evalgate.ports import BaselineFiles, TraceArchive


class PageOptions(NamedTuple):
    """The most bytes of a page, None without a limit; `summary` leaves out all conversations."""

    max_bytes: int | None = 10_000_000
    summary: bool = False


class PageBaseline(NamedTuple):
    """A baseline, and the traces that it stores."""

    run: BaselineRun
    lines: Iterable[bytes]


def view_run(
    files: BaselineFiles, traces: TraceArchive, source: str, options: PageOptions, baseline: str | None = None
) -> RunPage:
    """The page of the run at `source`, a results.json or a baseline.zip; raises InvalidInput if it can't be read.

    `baseline` is the baseline.zip that the run was compared with; its conversations are shown too. Without one it is
    looked for where the run had it.
    """
    document = files.load(source).results
    if baseline is None:
        own = find_own_baseline(files, document)
        side = None if own is None else PageBaseline(own[1], files.read_traces(own[0]))
    else:
        side = PageBaseline(files.load_run(baseline).run, files.read_traces(baseline))
        if not _is_compared(document, side.run):
            hint = "its conversations would be shown beside differences to another run; name the right one or none"
            raise SettingError(Problem(f"{baseline} is not the baseline that this run was compared with", None, hint))
    return build_run_page(document, read_own_traces(files, source), traces.restore_trace, options, side)


def _is_compared(document: ResultsDoc, other: BaselineRun) -> bool:
    """Whether the results of a run hold the summary of this baseline, or none."""
    compared = document["baseline"]["summary"] if document["baseline"] else None
    return compared is None or compared == other.summary


def build_run_page(
    document: ResultsDoc,
    lines: Iterable[bytes],
    restore: Callable[[bytes], Trace | None],
    options: PageOptions,
    baseline: PageBaseline | None = None,
) -> RunPage:
    """The page of a run whose traces are stored as `lines`.

    Conversations of failing scenarios come first, then changed ones; what passes the limit is left out and counted.
    """
    builder = PageBuilder(copy_changes(document), options.max_bytes)
    if options.summary:
        return builder.build(has_traces=True)
    failing = {place_of(trial.trace) for trial in _iter_failing(document)}
    kinds = _list_kinds(document)
    better = BetterScenarios(builder.compared)
    has_traces = False
    for line in lines:
        place = source_of(line)
        has_traces = True
        if place is not None and builder.wants(place) and (trace := restore(line)) is not None:
            trace.take_kinds(kinds.get(place, NO_KINDS))
            record = orjson.loads(line).get("record") if place in failing else None
            block = encode_trace_block(trace, record, with_sources=builder.has_sources(place, len(line)))
            builder.add(place, block, describe_trace(trace))
            better.add(place, trace)
    if baseline is not None:
        _add_baseline(builder, baseline, restore, better)
    return builder.build(has_traces=has_traces, has_baseline=baseline is not None)


def _list_kinds(document: ResultsDoc) -> dict[TracePosition, ToolKinds]:
    """What suites say of their tools, by the places of their traces."""
    found: dict[TracePosition, ToolKinds] = {}
    for suite in document["suites"]:
        if (kinds := kinds_of(suite)) != NO_KINDS:
            trials = (trial for scenario in suite["scenarios"] for trial in scenario["trials"])
            found |= dict.fromkeys((place_of(trial.trace) for trial in trials), kinds)
    return found


def _iter_failing(document: ResultsDoc) -> Iterator[TrialDoc]:
    """The trials that did not pass."""
    for suite in document["suites"]:
        for scenario in suite["scenarios"]:
            if scenario["verdict"] != "PASS":
                yield from (trial for trial in scenario["trials"] if trial.status != "passed")


def _add_baseline(
    builder: PageBuilder, baseline: PageBaseline, restore: Callable[[bytes], Trace | None], better: BetterScenarios
) -> None:
    """Adds the conversations of the trials that the run's were compared with."""
    wanted: dict[TracePosition, tuple[ComparedTrial, BaselineTrial]] = {}
    for each in builder.compared:
        scenario = each.item.scenario
        trials = baseline.run.find_trials(ScenarioKey(each.item.suite["suite"], scenario["id"], scenario["variant"]))
        trial = find_counterpart(trials, each.trial)
        if trial is not None:
            wanted[trial.position] = each, trial
    for line in baseline.lines if wanted else ():
        position = source_of(line)
        found = None if position is None else wanted.get(position)
        if found is None or (trace := restore(line)) is None:
            continue
        compared, trial = found
        trace.take_kinds(kinds_of(compared.item.suite))
        builder.add_details(compared.place, describe_trace(trace))
        if better.compare(compared, trial.trial, trace) and builder.wants(compared.place):
            block = encode_trace_block(trace, with_sources=builder.has_sources(compared.place, len(line)))
            builder.add(compared.place, block, describe_trace(trace))
