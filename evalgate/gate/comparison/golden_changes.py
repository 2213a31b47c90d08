"""Adds to each golden of a run how it changed since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.scenarios import find_baseline_key, list_scenario_docs
from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.goldens import PASSING_SCORE
from evalgate.models.run.golden import BaselineGolden
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.scoring.golden.rules import reaches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run.golden import RegressionStatus
    from evalgate.models.run.run import Run
    from evalgate.suite.policy import Policy


def add_golden_changes(
    run: Run, comparison: Comparison | None, baseline: ResultsDoc | None, policies: Mapping[str, Policy]
) -> None:
    """Sets each golden's result in the baseline and its regression status; does nothing without goldens."""
    goldens = [(key, each, each.golden) for key, each in list_scenarios(run.suites) if each.golden is not None]
    if not goldens:
        return
    baseline_scenarios = {} if baseline is None or comparison is None else dict(list_scenario_docs(baseline))
    for key, scenario, golden in goldens:
        baseline_scenario = baseline_scenarios.get(find_baseline_key(key, baseline_scenarios))
        golden.baseline = None if baseline_scenario is None else _build_golden_before(baseline_scenario)
        policy = policies.get(key.suite)
        golden.regression_status = find_golden_status(
            None if scenario.verdict in NOT_EVALUATED else scenario.score,
            None if golden.baseline is None else golden.baseline.score,
            comparison.changes.get(key) if comparison is not None else None,
            scenario.threshold,
            DEFAULT_THRESHOLD if policy is None else policy.regression.threshold,
        )
    if comparison is not None and baseline is not None:
        comparison.baseline_critical_issues = critical_issues(baseline)


def critical_issues(document: ResultsDoc) -> dict[str, int]:
    """Critical issues of the goldens of each suite of a document, without those in quarantine."""
    found: dict[str, int] = {}
    for suite in document["suites"]:
        goldens = [each["golden"] for each in suite["scenarios"] if "golden" in each and not each.get("quarantined")]
        found[suite["suite"]] = sum(golden["critical_issues"] for golden in goldens)
    return found


def _build_golden_before(scenario: ScenarioDoc) -> BaselineGolden:
    """The golden's result in the baseline; if it was no golden then, it has a score and no dimensions."""
    is_scored = scenario["verdict"] not in NOT_EVALUATED
    turns = scenario["golden"]["turns"] if "golden" in scenario else {}
    return BaselineGolden(scenario["score"] if is_scored else None, scenario["dimensions"] or {}, turns)


DEFAULT_THRESHOLD = 0.05


def regression_status(
    current: float, baseline: float | None, passing: float = PASSING_SCORE, threshold: float = DEFAULT_THRESHOLD
) -> RegressionStatus:
    """The status of a score compared with the baseline's; differences are rounded to 1e-9.

    >>> regression_status(0.80, 0.90), regression_status(0.95, 0.85), regression_status(0.90, 0.88)
    ('degradation', 'improvement', 'pass')
    """
    passes, baseline_passes = reaches(current, passing), baseline is not None and reaches(baseline, passing)
    drop = 0.0 if baseline is None else round(baseline - current, DIGITS)
    limit = round(threshold, DIGITS)
    if not passes and not baseline_passes and drop <= limit:
        return "fail"
    if baseline is None:
        return "pass"
    if drop > limit or (baseline_passes and not passes):
        return "degradation"
    return "improvement" if -drop > limit or (passes and not baseline_passes) else "pass"


def find_golden_status(
    score: float | None,
    baseline: float | None,
    change: Change | None,
    passing: float = PASSING_SCORE,
    threshold: float = DEFAULT_THRESHOLD,
) -> RegressionStatus | None:
    """The status of a scenario's score; a move that the trials do not support counts as no move.

    None if nothing was scored.
    """
    if score is None:
        return None
    found = regression_status(score, baseline, passing, threshold)
    if found in ("degradation", "improvement") and change is not None and change.kind == "inconclusive":
        return "pass" if reaches(score, passing) else "fail"
    return found
