"""What the trials do that were added on both sides, what is alike in them, and what nobody planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.evaluation.suite_judge import identify_trace
from evalgate.application.evaluation.trajectories import StoredTraces, iterate_stored
from evalgate.application.judge.compare_finished import read_own_traces
from evalgate.errors import Problem
from evalgate.gate.common.wording import format_count
from evalgate.gate.trajectory.behaviour import behaviour_from_trace
from evalgate.gate.trajectory.behaviour_differences import find_differences
from evalgate.models.trace.trace import NO_KINDS
from evalgate.scoring.wording import cut_quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.features.evidence.application.added_trials import RecordedSide
    from evalgate.models.comparison.behaviour import Behaviour, BehaviourDifference
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.results.baseline_run import TracePosition
    from evalgate.models.run.run import Trial
    from evalgate.models.trace.trace import ToolKinds, Trace
    from evalgate.ports import BaselineFiles, TraceArchive

SIDES = "the base", "this commit"
LEAST_WITH_SOURCES = 3


class AddedTrace(NamedTuple):
    """What an added trial did, and what tells its recording from others but for ids and times."""

    behaviour: Behaviour
    content: tuple[object, ...]


class AddedActs(NamedTuple):
    """How the added trials of both sides differ, by scenario, and what a person should know of them."""

    differences: Mapping[ScenarioKey, Sequence[BehaviourDifference]]
    warnings: Sequence[Problem]


def compare_added(files: BaselineFiles, traces: TraceArchive, sides: Sequence[RecordedSide]) -> AddedActs:
    """Compares what the added trials of both sides do, as far as their traces are kept."""
    kinds = {suite.name: suite.tool_kinds for suite in sides[1].more.rules.suites}
    read = [_read_traces(files, traces, side, kinds) for side in sides]
    differences = {}
    for key in sides[0].added:
        both = [found[key] for found in read]
        if all(len(found) == len(side.added[key]) for found, side in zip(both, sides, strict=True)):
            before, now = ([each.behaviour for each in found] for found in both)
            passes = all(trial.status == "passed" for side in sides for trial in side.added[key])
            differences[key] = find_differences(before, now, None, passes=passes)
    alike = (each for found, name in zip(read, SIDES, strict=True) for each in _find_alike(found, name))
    return AddedActs(differences, [*_find_unplanned(sides[1]), *alike])


def _read_traces(
    files: BaselineFiles, traces: TraceArchive, side: RecordedSide, kinds: Mapping[str, ToolKinds]
) -> Mapping[ScenarioKey, Sequence[AddedTrace]]:
    places = {_place_of(trial): key for key, trials in side.added.items() for trial in trials}
    found: dict[ScenarioKey, list[AddedTrace]] = {key: [] for key in side.added}
    stored = StoredTraces(read_own_traces(files, side.more.path), traces.restore_trace)
    for place, trace in iterate_stored(stored, places):
        trace.take_kinds(kinds.get(places[place].suite, NO_KINDS))
        several = len(side.added[places[place]]) >= LEAST_WITH_SOURCES
        behaviour = behaviour_from_trace(trace, with_sources=several)
        found[places[place]].append(AddedTrace(behaviour, _list_content(trace)))
    return found


def _place_of(trial: Trial) -> TracePosition:
    return trial.trace.path, trial.trace.line, trial.trace.record


def _list_content(trace: Trace) -> tuple[object, ...]:
    return identify_trace(trace)[1], repr(trace.usage), repr(trace.latency), repr(trace.cost), trace.status, trace.model


def _find_alike(found: Mapping[ScenarioKey, Sequence[AddedTrace]], side: str) -> Iterator[Problem]:
    """Trials that are equal in all but ids and times: an agent may repeat itself, and a recording may be copied."""
    for key, trials in found.items():
        others = len({each.content for each in trials})
        if others < len(trials):
            what = "differ only in ids and times" if others == 1 else f"are {others:,} but for ids and times"
            doubt = "the agent repeats itself exactly, or a recording was copied"
            count = f"{format_count(len(trials), 'trial')} added on {side}"
            yield Problem(f"{cut_quote(key.id)}: {count} {what}: {doubt}", code="alike_trials")


def _find_unplanned(side: RecordedSide) -> Iterator[Problem]:
    """Scenarios that were recorded again and fail, although no trial of them was planned: they decide nothing."""
    for key, scenario in side.more.scenarios.items():
        if key not in side.added and scenario.trials and scenario.verdict != "PASS":
            passed = sum(trial.status == "passed" for trial in scenario.trials)
            count = f"{passed:,} of {format_count(len(scenario.trials), 'trial')} passed"
            message = f"{cut_quote(key.id)}: recorded again on this commit without being planned, and {count}"
            yield Problem(f"{message}; the first verdict counts", code="unplanned_trials")
