"""The baseline's result for each scenario while traces are judged, and the trials that did worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

from evalgate.gate.trajectory.trial_pairs import trial_sort_key
from evalgate.models.comparison.comparison import ScenarioKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.comparison.baseline_run import BaselineRun, TracePosition
    from evalgate.models.comparison.trajectory import Trajectory
    from evalgate.models.results.results import ScenarioDoc
    from evalgate.models.run.run import TrialResult

MOST_KEPT = 100
"""Number of scenarios for which a trajectory is kept while a run goes on."""


class BaselineScenario(TypedDict):
    """A scenario's result; a whole ScenarioDoc if assertions of this run may read it."""

    verdict: str
    score: float | None


class BaselineScenarios:
    """The scenarios of the baseline by key; empty without a baseline."""

    __slots__ = ("_entries", "_whole")

    def __init__(self, run: BaselineRun | None = None) -> None:
        self._entries = {} if run is None else run.entries
        document = None if run is None else run.document
        self._whole: Mapping[ScenarioKey, ScenarioDoc] | None = document and {
            ScenarioKey(suite["suite"], scenario["id"], scenario["variant"]): scenario
            for suite in document["suites"]
            for scenario in suite["scenarios"]
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
    """Collects, during a run, the trials that did worse than the baseline."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[ScenarioKey, KeptTrial] = {}

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


def is_worse(trial: TrialResult, baseline: BaselineScenario) -> bool:
    """Whether a trial did worse than its scenario in the baseline; one that is not measured did not."""
    if trial.status == "not_measured":
        return False
    if (trial.score or 0.0) < (baseline["score"] or 0.0):
        return True
    return trial.status != "passed" and baseline["verdict"] == "PASS"
