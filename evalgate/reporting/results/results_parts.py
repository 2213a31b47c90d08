"""Builds the records of `results.json`, one function per record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.reporting.results.bounded import bounded_name, bounded_text, maybe_name
from evalgate.reporting.results.statistics_doc import figures_doc, variant_doc
from evalgate.reporting.results.summary import mean_with_gaps
from evalgate.reporting.results.trial_doc import location_doc, names, trial_docs
from evalgate.scoring.variants import variants_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.errors import Problem
    from evalgate.models.comparison.comparison import BaselineInfo, Change, Drift, ScenarioOutcome
    from evalgate.models.comparison.decision import Reason
    from evalgate.models.results.results import (
        BaselineDoc,
        ChangeDoc,
        DriftDoc,
        ReasonDoc,
        RemovedDoc,
        ScenarioDoc,
        SuiteDoc,
        SummaryDoc,
        UnclaimedDoc,
        WarningDoc,
    )
    from evalgate.models.run.run import ScenarioResult, SuiteResult, Unclaimed
    from evalgate.models.run.run_statistics import SuiteStatistics
    from evalgate.models.trace.trace import Warning_


def reason_doc(reason: Reason) -> ReasonDoc:
    """Builds a reason of the decision; fields that don't apply are absent."""
    document: ReasonDoc = {"code": reason.code, "message": bounded_text(reason.message)}
    if reason.suite is not None:
        document["suite"] = bounded_name(reason.suite)
    if reason.scenario is not None:
        document["scenario"] = bounded_name(reason.scenario)
        document["variant"] = maybe_name(reason.variant)
    return document


def problem_doc(problem: Problem, code: str) -> ReasonDoc:
    """Builds a reason from a problem in the input, with its hint and location."""
    hint = f" ({problem.hint})" if problem.hint else ""
    return {
        "code": code,
        "message": bounded_text(f"{problem.message}{hint}"),
        "location": location_doc(problem.location),
    }


def suite_doc(
    suite: SuiteResult,
    changes: Mapping[ScenarioKey, Change],
    verdict: str,
    summed: SuiteStatistics | None = None,
) -> SuiteDoc:
    """Builds a suite with its scenarios, in suite order."""
    document: SuiteDoc = {
        "suite": bounded_name(suite.name),
        "path": bounded_name(suite.path),
        "verdict": verdict,
        "score": mean_with_gaps(suite.scenarios),
        "scenarios": [
            _scenario_doc(scenario, changes.get(ScenarioKey(suite.name, scenario.id, scenario.variant)))
            for scenario in suite.scenarios
        ],
        "variants": [variant_doc(variant) for variant in variants_of(suite.scenarios)],
    }
    if summed is not None:
        document["figures"] = figures_doc(summed)
    return document


def baseline_doc(baseline: BaselineInfo, summary: SummaryDoc | None) -> BaselineDoc:
    """Builds the record of the baseline, with the summary of its run."""
    document: BaselineDoc = {
        "status": baseline.status,
        "sha": maybe_name(baseline.sha),
        "age_seconds": baseline.age_seconds,
        "path": maybe_name(baseline.path),
        "distance": baseline.distance,
        "summary": summary,
    }
    if baseline.drift is not None:
        document["drift"] = _drift_doc(baseline.drift)
    return document


def _drift_doc(drift: Drift) -> DriftDoc:
    return {
        "found": drift.found,
        "suites": drift.suites,
        "evaluators": [
            {"type": bounded_name(each.type), "before": each.before, "now": each.now}
            for each in drift.evaluators
        ],
    }


def removed_doc(standing: ScenarioOutcome) -> RemovedDoc:
    """Builds a scenario that only the baseline has."""
    return {
        "suite": bounded_name(standing.key.suite),
        "id": bounded_name(standing.key.id),
        "variant": maybe_name(standing.key.variant),
        "verdict": standing.verdict,
        "score": standing.score,
    }


def unclaimed_doc(unclaimed: Unclaimed) -> UnclaimedDoc:
    """Builds a trace that matches no scenario."""
    return {
        "suite": bounded_name(unclaimed.suite),
        "path": bounded_name(unclaimed.trace.path),
        "id": maybe_name(unclaimed.trace.id),
        "scenario_id": maybe_name(unclaimed.scenario_id),
        "line": unclaimed.trace.line,
        "record": unclaimed.trace.record,
    }


def warning_doc(warning: Warning_) -> WarningDoc:
    """Builds a warning with its location."""
    return {
        "code": bounded_name(warning["code"]),
        "message": bounded_text(warning["message"]),
        "where": maybe_name(warning["where"]),
    }


def _scenario_doc(scenario: ScenarioResult, change: Change | None) -> ScenarioDoc:
    interval = scenario.pass_rate_interval
    document: ScenarioDoc = {
        "id": bounded_name(scenario.id),
        "variant": maybe_name(scenario.variant),
        "verdict": scenario.verdict,
        "score": scenario.score,
        "threshold": scenario.threshold,
        "n": len(scenario.trials),
        "pass_rate": scenario.pass_rate,
        "pass_rate_interval": None if interval is None else list(interval),
        "dimensions": None,
        "reason": None if scenario.reason is None else bounded_text(scenario.reason),
        "location": location_doc(scenario.location),
        "change": None if change is None else _change_doc(change),
        "trials": trial_docs(scenario.trials),
    }
    if scenario.quarantined:
        document["quarantined"] = True
    if scenario.golden is not None:
        from evalgate.reporting.results.judged_golden_doc import golden_doc

        document["dimensions"] = dict(scenario.golden.dimensions)
        document["golden"] = golden_doc(scenario.golden)
    return document


def _change_doc(change: Change) -> ChangeDoc:
    document: ChangeDoc = {
        "kind": change.kind,
        "flags": list(change.flags),
        "score_delta": change.score_delta,
        "reason": bounded_text(change.reason),
        "increases": [bounded_text(increase) for increase in change.increases],
        "previous_verdict": change.previous_verdict,
        "p_value": change.p_value,
    }
    if change.p_corrected is not None:
        document["p_corrected"] = change.p_corrected
    if change.calls is not None:
        document["calls"] = {
            "trial_before": change.calls.trial_before,
            "before": names(change.calls.before),
            "trial": change.calls.trial,
            "now": names(change.calls.now),
        }
    if change.cause is not None:
        from evalgate.reporting.results.weakenings_doc import cause_doc

        document["cause"] = cause_doc(change.cause)
    if change.behaviour is not None:
        from evalgate.reporting.results.trajectory_doc import behaviour_doc

        document["behaviour"] = behaviour_doc(change.behaviour)
    return document
