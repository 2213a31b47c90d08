"""What a run looks up in its baseline: results while traces are judged, then how the agent's behaviour differs."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import orjson
from msgspec import to_builtins

from evalgate.errors import InvalidInput, Problem
from evalgate.gate.common.scenarios import list_scenario_docs
from evalgate.gate.trajectory.trial_pairs import (
    compare_pair,
    find_scenarios_of_interest,
    pair_worst_trial,
    trial_sort_key,
)
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.run.trials import list_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from evalgate.gate.trajectory.trial_pairs import TrialPair
    from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
    from evalgate.models.comparison.trajectory import Trajectory, TrialExample
    from evalgate.models.results.baseline_run import BaselineRun, TracePosition
    from evalgate.models.results.results import ScenarioDoc
    from evalgate.models.run.run import Run, ScenarioResult, Trial, TrialResult
    from evalgate.models.trace.trace import Trace


MOST_KEPT, MOST_NEW = 100, 10
"""Scenarios that did worse, and new ones, for which a trajectory is kept while a run goes on."""


class BaselineScenario(TypedDict):
    """A scenario's result; a whole ScenarioDoc if assertions of this run may read it."""

    verdict: str
    score: float | None


class BaselineScenarios:
    """The scenarios of the baseline by key; empty without a baseline."""

    __slots__ = ("_entries", "_whole", "is_given")

    def __init__(self, run: BaselineRun | None = None) -> None:
        self._entries = {} if run is None else run.entries
        document = None if run is None else run.document
        self.is_given = run is not None
        self._whole: Mapping[ScenarioKey, ScenarioDoc] | None = document and {
            key: to_builtins(scenario, enc_hook=list) for key, scenario in list_scenario_docs(document)
        }

    def find_scenario(self, key: ScenarioKey) -> BaselineScenario | None:
        """One scenario; None if the baseline has none of that name and variant, or did not measure it."""
        entry = self._entries.get(key)
        if entry is None or entry.is_absent:
            return None
        if self._whole is not None:
            return self._whole.get(key)
        return {"verdict": entry.verdict, "score": entry.score}


class KeptTrial(NamedTuple):
    """The worst trial of a scenario: where its trace was read, and its trajectory."""

    rank: tuple[bool, float]
    place: TracePosition
    trajectory: Trajectory


class WorstTrialRecorder:
    """Collects, during a run, the trials that did worse than the baseline, and one that passes of new scenarios."""

    __slots__ = ("_kept", "_new")

    def __init__(self) -> None:
        self._kept: dict[ScenarioKey, KeptTrial] = {}
        self._new: dict[ScenarioKey, tuple[TracePosition, Trajectory]] = {}

    def wants(self, key: ScenarioKey, trial: TrialResult) -> bool:
        """Whether the trial did worst in its scenario so far."""
        kept = self._kept.get(key)
        return len(self._kept) < MOST_KEPT if kept is None else trial_sort_key(trial.status, trial.score) < kept.rank

    def add(self, key: ScenarioKey, trial: TrialResult, trajectory: Trajectory) -> None:
        """Keeps the trajectory of a trial if it did worst in its scenario so far."""
        if self.wants(key, trial):
            place = trial.trace.path, trial.trace.line, trial.trace.record
            self._kept[key] = KeptTrial(trial_sort_key(trial.status, trial.score), place, trajectory)

    def find_trial(self, key: ScenarioKey) -> KeptTrial | None:
        """The trial kept for a scenario."""
        return self._kept.get(key)

    def wants_new(self, key: ScenarioKey, trial: TrialResult) -> bool:
        """Whether the trial is the first that passes of one of the first new scenarios."""
        return trial.status == "passed" and len(self._new) < MOST_NEW and key not in self._new

    def add_new(self, key: ScenarioKey, trial: TrialResult, trajectory: Trajectory) -> None:
        """Keeps the trajectory of a trial of a new scenario if it is wanted."""
        if self.wants_new(key, trial):
            self._new[key] = _place(trial), trajectory

    def list_new(self) -> Mapping[ScenarioKey, tuple[TracePosition, Trajectory]]:
        """Where the traces were read that are kept of new scenarios, and their trajectories."""
        return self._new


def is_worse(trial: TrialResult, baseline: BaselineScenario) -> bool:
    """Whether a trial did worse than its scenario in the baseline; one that is not measured did not."""
    if trial.status == "not_measured":
        return False
    if (trial.score or 0.0) < (baseline["score"] or 0.0):
        return True
    return trial.status != "passed" and baseline["verdict"] == "PASS"


MAX_LISTED = 50
WORST_FIRST = ("broken", "regressed", "inconclusive")
"""Kinds of change for which trajectories are compared."""
NAMES_ONLY = "only the names of the agent's tool calls are compared"
_SOURCE = b'"source":{'


class StoredTraces(NamedTuple):
    """Lines of traces that a baseline keeps, and the function that reads one (None if it can't be read)."""

    lines: Iterable[bytes]
    restore: Callable[[bytes], Trace | None]


class _WorseTrial(NamedTuple):
    change: Change
    pair: TrialPair
    trajectory: Trajectory


def add_behaviour(
    comparison: Comparison, run: Run, baseline: BaselineRun, worst_trials: WorstTrialRecorder, stored: StoredTraces
) -> Sequence[Problem]:
    """Adds a trajectory diff to scenarios that got worse; what can't be read is a warning.

    `stored` are the traces in the baseline, read only as far as needed.
    """
    worse = _find_worse_trials(comparison, run, baseline, worst_trials)
    if not worse:
        return []
    try:
        trajectories = load_trajectories(stored, {each.pair.baseline_trial.position for each in worse})
    except InvalidInput as error:
        return [Problem(f"{problem.message}: {NAMES_ONLY}") for problem in error.problems]
    for each in worse:
        baseline_trajectory = trajectories.get(each.pair.baseline_trial.position)
        if baseline_trajectory is not None:
            each.change.trajectory_diff = compare_pair(each.pair, baseline_trajectory, each.trajectory)
    return []


def add_examples(comparison: Comparison, run: Run, worst_trials: WorstTrialRecorder) -> None:
    """Adds a trial to new scenarios that pass: no earlier report shows what the agent does in them."""
    new = worst_trials.list_new()
    for key, scenario in list_scenarios(run.suites) if new else ():
        change = comparison.changes.get(key)
        if key not in new or change is None or not is_new_and_passes(scenario, change):
            continue
        place, trajectory = new[key]
        for trial in list_measured(scenario.trials):
            if _place(trial) == place:
                change.example = _describe(trajectory, trial.trial)


def add_stored_examples(comparison: Comparison, run: Run, stored: StoredTraces) -> None:
    """Adds the same to a finished run, whose traces are `stored`."""
    kinds = {suite.name: suite.tool_kinds for suite in run.suites}
    places = {
        _place(trial): (change, trial.trial, kinds[key.suite])
        for key, scenario in list_scenarios(run.suites)
        if (change := comparison.changes.get(key)) is not None and is_new_and_passes(scenario, change)
        for trial in islice((each for each in list_measured(scenario.trials) if each.status == "passed"), 1)
    }
    wanted = dict(islice(places.items(), MOST_NEW))
    for place, trace in iterate_stored(stored, wanted):
        from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace  # few runs need it

        change, number, listed = wanted[place]
        trace.take_kinds(listed)
        change.example = _describe(trajectory_from_trace(trace), number)


def is_new_and_passes(scenario: ScenarioResult, change: Change) -> bool:
    """Whether the baseline lacks a scenario that passes."""
    return scenario.verdict == "PASS" and change.kind == "new" and change.previous_verdict is None


def _describe(trajectory: Trajectory, number: int) -> TrialExample:
    from evalgate.gate.trajectory.trajectory_diff import describe_trial  # few runs need it

    return describe_trial(trajectory, number)


def _find_worse_trials(
    comparison: Comparison, run: Run, baseline: BaselineRun, worst_trials: WorstTrialRecorder
) -> list[_WorseTrial]:
    worse = [each for each in find_scenarios_of_interest(comparison, run, baseline) if each.change.kind in WORST_FIRST]
    worse.sort(key=lambda each: WORST_FIRST.index(each.change.kind))
    found: list[_WorseTrial] = []
    for each in worse:
        kept = worst_trials.find_trial(each.key)
        seen = [] if kept is None else [trial for trial in each.trials if _place(trial) == kept.place]
        if kept is not None and seen:
            found.append(_WorseTrial(each.change, pair_worst_trial(each.baseline_trials, seen), kept.trajectory))
        if len(found) == MAX_LISTED:
            break
    return found


def _place(trial: Trial) -> TracePosition:
    return trial.trace.path, trial.trace.line, trial.trace.record


def load_trajectories(stored: StoredTraces, wanted: Collection[TracePosition]) -> dict[TracePosition, Trajectory]:
    """The trajectories of the wanted traces among those in a baseline."""
    from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace  # few runs need it

    return {place: trajectory_from_trace(trace) for place, trace in iterate_stored(stored, wanted)}


def iterate_stored(stored: StoredTraces, wanted: Collection[TracePosition]) -> Iterator[tuple[TracePosition, Trace]]:
    """Yields the wanted traces among the stored ones, each once, with its place."""
    left = set(wanted)
    for line in stored.lines if left else ():
        place = source_of(line)
        if place is not None and place in left and (trace := stored.restore(line)) is not None:
            left.remove(place)
            yield place, trace
            if not left:
                return


def source_of(line: bytes) -> TracePosition | None:
    """Where a stored trace was read. It comes last in its line, so most lines need no full parse."""
    start = line.rfind(_SOURCE)
    source = _parse_document(line[start + len(_SOURCE) - 1 :].rstrip()[:-1]) if start >= 0 else None
    if source is None:
        source = (_parse_document(line) or {}).get("source")
    if not isinstance(source, dict):
        return None
    path, number, record = source.get("path"), source.get("line"), source.get("record")
    if isinstance(path, str) and isinstance(number, int | None) and isinstance(record, int | None):
        return path, number, record
    return None


def _parse_document(content: bytes) -> dict[str, Any] | None:
    try:
        document = orjson.loads(content)
        orjson.dumps(document)  # fails if it is nested too deep to be compared
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return document if isinstance(document, dict) else None
