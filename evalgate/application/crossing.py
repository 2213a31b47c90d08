"""New recordings under the baseline's rules.

Only scenarios whose rules changed are judged twice; of the others it is known what changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.earlier import Earlier
from evalgate.application.suite_evaluation import SuiteEvaluation
from evalgate.gate.cause import Judged
from evalgate.gate.entries import Entries
from evalgate.models.comparison import ScenarioKey
from evalgate.records import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.application.judged import JudgedRecord
    from evalgate.models.earlier_run import EarlierRun
    from evalgate.models.run import ScenarioResult
    from evalgate.models.trace import TraceRecord
    from evalgate.suite.models import Configuration, Scenario, Suite

MOST_TWICE = 10_000
"""Recordings of a run that are judged a second time."""


@dataclass(slots=True)
class Pair:
    """A suite under both rules, with its entries that differ."""

    old: Suite
    new: Suite
    changed: frozenset[str]  # ids of entries, as either side writes them
    entries: tuple[Entries, Entries]
    suite: Suite  # the old one, with the checks of what differs
    evaluation: SuiteEvaluation
    is_full: bool = False

    def has_changed(self, id_: str) -> bool:
        """Whether the rules of a scenario differ."""
        names = [next(iter(each.of(id_).values()), None) for each in self.entries]
        return any(found is None or found.id in self.changed for found in names)


@dataclass(slots=True)
class Crossing:
    """Judges, while a run goes on, its recordings by the baseline's rules; made by `crossing_of`."""

    pairs: Mapping[str, Pair]
    _seen: int = 0
    _verdicts: dict[str, dict[ScenarioKey, ScenarioResult]] = field(default_factory=dict)

    def see(self, suite: Suite, record: TraceRecord, own_id: str | None) -> None:
        """Judges one recording of a suite once more. `own_id` is its scenario id before any suite's word."""
        pair = self._next(suite)
        if pair is None:
            return
        given = record.scenario_id
        record.scenario_id = own_id
        pair.evaluation.add(record)
        record.scenario_id = given

    def take(self, suite: Suite, judged: JudgedRecord | None) -> None:
        """Takes in what a worker judged; None where it was told that no more are needed."""
        pair = self._next(suite)
        if pair is not None and judged is not None:
            pair.evaluation.take(judged)

    def wants(self, suite: Suite) -> bool:
        """Whether recordings of the suite are still judged twice."""
        pair = self.pairs.get(suite.name)
        return pair is not None and not pair.is_full and self._seen < MOST_TWICE

    def _next(self, suite: Suite) -> Pair | None:
        """What judges one more recording of a suite, None where none is to be."""
        pair = self.pairs.get(suite.name)
        if pair is None or pair.is_full:
            return None
        self._seen += 1
        if self._seen > MOST_TWICE:
            pair.is_full = True
            return None
        return pair

    def now_by_old(self, key: ScenarioKey, trials: int) -> Judged | None:
        """How the run's recordings stand by the baseline's rules."""
        pair = self.pairs[key.suite]
        if key.suite not in self._verdicts:
            self._verdicts[key.suite] = by_key(pair.old.name, pair.evaluation)
        found = self._verdicts[key.suite].get(key)
        if found is None or (pair.is_full and len(found.trials) != trials):
            return None
        return Judged(found.verdict, found.score)

    def has_same_rules(self, key: ScenarioKey) -> bool:
        """Whether both sides judge a scenario alike."""
        pair = self.pairs.get(key.suite)
        return pair is None or not pair.has_changed(key.id)


def crossing_of(old: Configuration, new: Configuration, before: EarlierRun) -> Crossing:
    """What judges both ways where the suites of a baseline differ from today's."""
    now = {suite.name: suite for suite in new.suites}
    earlier = Earlier(before)
    pairs = {}
    for suite in old.suites:
        if suite.name in now and suite.written is not now[suite.name].written:
            changed = _changed(suite, now[suite.name])
            if changed:
                judged = only(suite, changed)
                pairs[suite.name] = Pair(
                    suite,
                    now[suite.name],
                    changed,
                    (Entries(suite), Entries(now[suite.name])),
                    judged,
                    SuiteEvaluation(judged, earlier),
                )
    return Crossing(pairs)


def _changed(old: Suite, new: Suite) -> frozenset[str]:
    """Ids of entries that differ, all of them where traces are given to scenarios in another way."""
    if _claiming(old) != _claiming(new):
        return frozenset(each.id for suite in (old, new) for each in suite.scenarios)
    sides = [_rules(suite) for suite in (old, new)]
    return frozenset(id_ for id_ in {**sides[0], **sides[1]} if sides[0].get(id_) != sides[1].get(id_))


def _claiming(suite: Suite) -> object:
    """All that decides which scenario a trace belongs to."""
    expression = suite.scenario_from.expression if suite.scenario_from is not None else None
    entries = [*suite.written.get("scenarios", ()), *suite.written.get("goldens", ())]
    written = [(each.get("id"), each.get("match"), each.get("variants")) for each in entries]
    return expression, suite.written.get("variants"), written


def _rules(suite: Suite) -> dict[str, list[object]]:
    """By the id of its entry, what judges a scenario in each variant."""
    found: dict[str, list[object]] = {}
    for each in suite.scenarios:
        checks = [assertion.written for assertion in each.assertions]
        variant = each.variant.name if each.variant else None
        found.setdefault(each.id, []).append((variant, each.threshold, each.rules, checks))
    return found


def only(suite: Suite, ids: Iterable[str]) -> Suite:
    """The suite with the checks of some entries; the others still claim their traces."""
    wanted = set(ids)
    scenarios: list[Scenario] = [
        each if each.id in wanted else replace(each, assertions=(), golden=None) for each in suite.scenarios
    ]
    return replace(suite, scenarios=scenarios)


def by_key(suite: str, evaluation: SuiteEvaluation) -> dict[ScenarioKey, ScenarioResult]:
    """The scenarios of a suite, once all its recordings were seen."""
    return {ScenarioKey(suite, each.id, each.variant): each for each in evaluation.result().scenarios}
