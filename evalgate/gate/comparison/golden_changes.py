"""Adds to each golden of a run how it changed since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.stored_key import stored_key
from evalgate.gate.comparison.golden_status import THRESHOLD, status_of
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.golden_result import GoldenBefore
from evalgate.models.run.run import NOT_EVALUATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run.run import Run
    from evalgate.suite.policy import Policy


def settle_goldens(
    run: Run, comparison: Comparison | None, before: ResultsDoc | None, policies: Mapping[str, Policy]
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
    earlier = {} if before is None or comparison is None else _by_key(before)
    for key, scenario in keys.items():
        golden = scenario.golden
        if golden is None:
            continue
        found = earlier.get(stored_key(key, earlier))
        golden.before = None if found is None else _before(found)
        policy = policies.get(key.suite)
        golden.regression_status = status_of(
            None if scenario.verdict in NOT_EVALUATED else scenario.score,
            None if golden.before is None else golden.before.score,
            comparison.changes.get(key) if comparison is not None else None,
            scenario.threshold,
            THRESHOLD if policy is None else policy.regression.threshold,
        )
    if comparison is not None and before is not None:
        comparison.critical_before = critical_issues(before)


def critical_issues(document: ResultsDoc) -> dict[str, int]:
    """Critical issues of the goldens of each suite of a document, without those in quarantine."""
    found: dict[str, int] = {}
    for suite in document["suites"]:
        goldens = [
            each["golden"] for each in suite["scenarios"] if "golden" in each and not each.get("quarantined")
        ]
        found[suite["suite"]] = sum(golden["critical_issues"] for golden in goldens)
    return found


def _by_key(document: ResultsDoc) -> dict[ScenarioKey, ScenarioDoc]:
    return {
        ScenarioKey(suite["suite"], each["id"], each["variant"]): each
        for suite in document["suites"]
        for each in suite["scenarios"]
    }


def _before(scenario: ScenarioDoc) -> GoldenBefore:
    """The golden's result in the baseline; if it was no golden then, it has a score and no dimensions."""
    known = scenario["verdict"] not in NOT_EVALUATED
    turns = scenario["golden"]["turns"] if "golden" in scenario else {}
    return GoldenBefore(scenario["score"] if known else None, scenario["dimensions"] or {}, turns)
