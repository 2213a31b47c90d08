"""Compares the agent's behaviour on both sides where a scenario got worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from evalgate.application.evaluation.trace_excerpt import held, told
from evalgate.errors import InvalidInput, Problem
from evalgate.gate.trajectory.trial_pairs import behaviour_of, not_well, pair_of, rank

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from evalgate.application.evaluation.baseline_scenarios import BaselineScenario
    from evalgate.application.evaluation.trace_excerpt import Held
    from evalgate.gate.trajectory.trial_pairs import TrialPair
    from evalgate.models.comparison.baseline_run import BaselineRun, Place
    from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
    from evalgate.models.comparison.trajectory import Trajectory
    from evalgate.models.run.run import Run, TrialResult
    from evalgate.models.run.trial_record import TrialRecord
    from evalgate.models.trace.trace import Trace, TraceLocation

MOST_KEPT = 100
"""Number of scenarios for which a trace is kept while a run goes on."""
MOST_TOLD = 50
WORST_FIRST = ("broken", "regressed", "inconclusive")
"""Kinds of change for which trajectories are compared."""
NAMES_ONLY = "what changed in the agent's behaviour is told by the names of its calls only"
_SOURCE = b'"source":{'


class KeptTrial(NamedTuple):
    """The worst trial of a scenario, and an excerpt of its trace."""

    rank: tuple[bool, float]
    place: Place
    recording: Held


class WorstTrialRecorder:
    """Keeps, while a run goes on, the trials that did worse than the baseline."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[ScenarioKey, KeptTrial] = {}

    def observe(self, key: ScenarioKey, trace: Trace, trial: TrialResult) -> None:
        """Keeps the trace if it did worst in its scenario so far.

        Few of them are reported, so their trajectories are computed later.
        """
        mine = rank(trial.status, trial.score)
        if self._wants(key, mine):
            self._add(key, mine, trace.source, held(trace))

    def add(
        self, key: ScenarioKey, source: TraceLocation, trial: TrialResult | TrialRecord, course: Trajectory
    ) -> None:
        """Keeps the trajectory of a trial if it did worst in its scenario so far."""
        mine = rank(trial.status, trial.score)
        if self._wants(key, mine):
            self._add(key, mine, source, course)

    def _add(
        self, key: ScenarioKey, mine: tuple[bool, float], source: TraceLocation, recording: Held
    ) -> None:
        self._kept[key] = KeptTrial(mine, (source.path, source.line, source.record), recording)

    def _wants(self, key: ScenarioKey, mine: tuple[bool, float]) -> bool:
        kept = self._kept.get(key)
        return len(self._kept) < MOST_KEPT if kept is None else mine < kept.rank

    def of(self, key: ScenarioKey) -> KeptTrial | None:
        """The trial kept for a scenario."""
        return self._kept.get(key)


def is_worse(trial: TrialResult, before: BaselineScenario) -> bool:
    """Whether a trial did worse than its scenario in the baseline."""
    if (trial.score or 0.0) < (before["score"] or 0.0):
        return True
    return trial.status != "passed" and before["verdict"] == "PASS"


class _Wanted(NamedTuple):
    change: Change
    pair: TrialPair
    recording: Held


def add_behaviour(
    comparison: Comparison, run: Run, before: BaselineRun, witness: WorstTrialRecorder, lines: Iterable[bytes]
) -> Sequence[Problem]:
    """Adds a trajectory diff to scenarios that got worse; what can't be read is a warning.

    `lines` are the traces that the baseline keeps, read only as far as needed.
    """
    wanted = _wanted(comparison, run, before, witness)
    if not wanted:
        return []
    try:
        courses = stored_courses(lines, {each.pair.earlier.place for each in wanted})
    except InvalidInput as error:
        return [Problem(f"{problem.message}: {NAMES_ONLY}") for problem in error.problems]
    for each in wanted:
        earlier = courses.get(each.pair.earlier.place)
        if earlier is not None:
            each.change.behaviour = behaviour_of(each.pair, earlier, told(each.recording))
    return []


def _wanted(
    comparison: Comparison, run: Run, before: BaselineRun, witness: WorstTrialRecorder
) -> list[_Wanted]:
    worse = [each for each in not_well(comparison, run, before) if each.change.kind in WORST_FIRST]
    worse.sort(key=lambda each: WORST_FIRST.index(each.change.kind))
    found: list[_Wanted] = []
    for each in worse:
        kept = witness.of(each.key)
        seen = [] if kept is None else [trial for trial in each.trials if _place(trial) == kept.place]
        if kept is not None and seen:
            found.append(_Wanted(each.change, pair_of(each.earlier, seen), kept.recording))
        if len(found) == MOST_TOLD:
            break
    return found


def _place(trial: TrialResult) -> Place:
    return trial.trace.path, trial.trace.line, trial.trace.record


def stored_courses(lines: Iterable[bytes], wanted: Collection[Place]) -> dict[Place, Trajectory]:
    """The trajectories of the wanted traces among those a baseline keeps."""
    from evalgate.gate.trajectory.trajectories import course_of_document

    found: dict[Place, Trajectory] = {}
    for line in lines:
        place = source_of(line)
        if place is not None and place in wanted and place not in found:
            document = _loaded(line)
            if document is not None:
                found[place] = course_of_document(document)
        if len(found) == len(wanted):
            break
    return found


def source_of(line: bytes) -> Place | None:
    """Where a stored trace was read. It comes last in its line, so most lines need no full parse."""
    start = line.rfind(_SOURCE)
    source = _loaded(line[start + len(_SOURCE) - 1 :].rstrip()[:-1]) if start >= 0 else None
    if source is None:
        source = (_loaded(line) or {}).get("source")
    if not isinstance(source, dict):
        return None
    path, number, record = source.get("path"), source.get("line"), source.get("record")
    if isinstance(path, str) and isinstance(number, int | None) and isinstance(record, int | None):
        return path, number, record
    return None


def _loaded(content: bytes) -> dict[str, Any] | None:
    try:
        document = orjson.loads(content)
        orjson.dumps(document)  # fails if it is nested too deep to be compared
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return document if isinstance(document, dict) else None
