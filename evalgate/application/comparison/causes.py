"""Finds whether each change comes from the agent or from the rules that judge it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.baseline_rescoring import BaselineRescoring
from evalgate.gate.trajectory.cause import SAME_RULES, CrossScores, ScoredVerdict, find_cause
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.trials import is_unmeasured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalgate.application.comparison.policies import Policies
    from evalgate.application.evaluation.cross_scorer import CrossScorer
    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.run.run import Run
    from evalgate.ports import BaselineFiles, PriceTable, TraceArchive

MOVED = ("broken", "regressed", "fixed", "improved", "inconclusive")
"""Kinds of change that have a cause, the most important first."""
SURE = frozenset(MOVED) - {"inconclusive"}


class StoredBaseline(NamedTuple):
    """A baseline on disk, and what reads and prices its traces."""

    results: BaselineRun
    path: str
    files: BaselineFiles
    traces: TraceArchive
    prices: PriceTable | None


class _Sides(NamedTuple):
    change: Change
    baseline: ScoredVerdict
    now: ScoredVerdict
    trials: int


def add_causes(
    comparison: Comparison, run: Run, cross_scorer: CrossScorer, policies: Policies, baseline: StoredBaseline
) -> None:
    """Adds a cause, as far as it can be known, to each scenario whose rules or verdict changed."""
    sides = dict(_sides(comparison, run))
    differing = {key: each for key, each in sides.items() if not cross_scorer.has_same_rules(key)}
    moved = [key for kind in MOVED for key, each in differing.items() if each.change.kind == kind]
    rescored: Mapping[ScenarioKey, ScoredVerdict | str] = {}
    if moved:
        rescoring = BaselineRescoring(cross_scorer.pairs, baseline.results, baseline.prices, moved)
        rescored = rescoring.judge_lines(baseline.files.read_traces(baseline.path), baseline.traces)
    for key, each in sides.items():
        if key not in differing:
            each.change.cause = SAME_RULES if each.change.kind in SURE else None
            continue
        found = rescored.get(key)
        verdicts = CrossScores(
            cross_scorer.verdict_by_old_rules(key, each.trials), None if isinstance(found, str) else found
        )
        if isinstance(found, str):
            verdicts = verdicts._replace(missing_reason=found)
        policy = policies.suites.get(key.suite, policies.run)
        each.change.cause = find_cause(each.baseline, each.now, verdicts, policy.regression.threshold)


def _sides(comparison: Comparison, run: Run) -> Iterator[tuple[ScenarioKey, _Sides]]:
    for suite in run.suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            baseline, change = comparison.baseline_outcomes.get(key), comparison.changes.get(key)
            if baseline is not None and change is not None and not is_unmeasured(scenario):
                yield (
                    key,
                    _Sides(
                        change,
                        ScoredVerdict(baseline.verdict, baseline.score),
                        ScoredVerdict(scenario.verdict, scenario.score),
                        len(scenario.trials),
                    ),
                )
