"""Judges traces a second time by the baseline's rules, during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.trajectory.cause import ScoredVerdict
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.application.evaluation.evaluated_trace import EvaluatedTrace
    from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
    from evalgate.gate.common.scenario_index import ScenarioIndex
    from evalgate.models.run.run import ScenarioResult
    from evalgate.models.trace.trace import TraceRecord
    from evalgate.suite.models import Suite

MAX_CROSS_SCORED = 10_000
"""How many traces of a run are judged a second time."""


@dataclass(slots=True)
class RulePair:
    """A suite under both rules, and its entries that differ."""

    old: Suite
    new: Suite
    changed: frozenset[str]  # ids of entries on either side
    entries: tuple[ScenarioIndex, ScenarioIndex]
    suite: Suite  # the old one, with assertions only for entries that differ
    evaluation: SuiteEvaluation
    is_full: bool = False

    def has_changed(self, id_: str) -> bool:
        """Whether the rules of a scenario differ."""
        names = [next(iter(each.find_scenarios(id_).values()), None) for each in self.entries]
        return any(found is None or found.id in self.changed for found in names)


@dataclass(slots=True)
class CrossScorer:
    """Judges a run's traces by the baseline's rules too; created by `make_cross_scorer`."""

    pairs: Mapping[str, RulePair]
    _count: int = 0
    _verdicts: dict[str, dict[ScenarioKey, ScenarioResult]] = field(default_factory=dict)

    def observe(self, suite: Suite, record: TraceRecord, own_id: str | None) -> None:
        """Judges one trace of a suite again. `own_id` is its scenario id before `scenario_from` applied."""
        pair = self._next_pair(suite)
        if pair is None:
            return
        given = record.scenario_id
        record.scenario_id = own_id
        pair.evaluation.add(record)
        record.scenario_id = given

    def take(self, suite: Suite, evaluated: EvaluatedTrace | None) -> None:
        """Adds what a worker judged; None if it was not to judge more traces twice."""
        pair = self._next_pair(suite)
        if pair is not None and evaluated is not None:
            pair.evaluation.take(evaluated)

    def wants(self, suite: Suite) -> bool:
        """Whether further traces of the suite are judged twice."""
        pair = self.pairs.get(suite.name)
        return pair is not None and not pair.is_full and self._count < MAX_CROSS_SCORED

    def _next_pair(self, suite: Suite) -> RulePair | None:
        """The rules to judge one more trace of a suite by; None if it is not judged twice."""
        pair = self.pairs.get(suite.name)
        if pair is None or pair.is_full:
            return None
        self._count += 1
        if self._count > MAX_CROSS_SCORED:
            pair.is_full = True
            return None
        return pair

    def verdict_by_old_rules(self, key: ScenarioKey, trials: int) -> ScoredVerdict | None:
        """The verdict on the run's traces by the baseline's rules."""
        pair = self.pairs[key.suite]
        if key.suite not in self._verdicts:
            self._verdicts[key.suite] = scenarios_by_key(pair.old.name, pair.evaluation)
        found = self._verdicts[key.suite].get(key)
        if found is None or (pair.is_full and len(found.trials) != trials):
            return None
        return ScoredVerdict(found.verdict, found.score)

    def has_same_rules(self, key: ScenarioKey) -> bool:
        """Whether both sides judge a scenario by the same rules."""
        pair = self.pairs.get(key.suite)
        return pair is None or not pair.has_changed(key.id)


def scenarios_by_key(suite: str, evaluation: SuiteEvaluation) -> dict[ScenarioKey, ScenarioResult]:
    """The scenarios of a suite, once all its traces were judged."""
    return {ScenarioKey(suite, each.id, each.variant): each for each in evaluation.result().scenarios}
