"""Adds to each golden of a run how it changed since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.stored_key import find_baseline_key
from evalgate.gate.comparison.golden_status import DEFAULT_THRESHOLD, find_golden_status
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.golden_result import BaselineGolden
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run.run import Run
    from evalgate.suite.policy import Policy


def add_golden_changes(
    run: Run, comparison: Comparison | None, baseline: ResultsDoc | None, policies: Mapping[str, Policy]
) -> None:
    """Sets each golden's result in the baseline and its regression status; does nothing without goldens."""
    keys = {
        ScenarioKey(suite.name, each.id, each.variant): each
        for suite in run.suites
        for each in suite.scenarios
        if each.golden is not None
    }
    if not keys:
        return
    baseline_scenarios = {} if baseline is None or comparison is None else _index_scenarios(baseline)
    for key, scenario in keys.items():
        golden = scenario.golden
        if golden is None:
            continue
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
        goldens = [
            each["golden"] for each in suite["scenarios"] if "golden" in each and not each.get("quarantined")
        ]
        found[suite["suite"]] = sum(golden["critical_issues"] for golden in goldens)
    return found


def _index_scenarios(document: ResultsDoc) -> dict[ScenarioKey, ScenarioDoc]:
    return {
        ScenarioKey(suite["suite"], each["id"], each["variant"]): each
        for suite in document["suites"]
        for each in suite["scenarios"]
    }


def _build_golden_before(scenario: ScenarioDoc) -> BaselineGolden:
    """The golden's result in the baseline; if it was no golden then, it has a score and no dimensions."""
    is_scored = scenario["verdict"] not in NOT_EVALUATED
    turns = scenario["golden"]["turns"] if "golden" in scenario else {}
    return BaselineGolden(scenario["score"] if is_scored else None, scenario["dimensions"] or {}, turns)
