"""The parts of `results.json`, one function a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison import ScenarioKey
from evalgate.reporting.exports.bounded import bounded_evidence, bounded_name, bounded_text, whole
from evalgate.reporting.exports.summary import mean_with_gaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.errors import Location, Problem
    from evalgate.models.comparison import BaselineInfo, Change, Standing
    from evalgate.models.decision import Reason
    from evalgate.models.results import (
        AssertionDoc,
        BaselineDoc,
        ChangeDoc,
        LocationDoc,
        ReasonDoc,
        RemovedDoc,
        ScenarioDoc,
        SuiteDoc,
        SummaryDoc,
        TraceDoc,
        TrialDoc,
        UnclaimedDoc,
        WarningDoc,
    )
    from evalgate.models.run import (
        AssertionResult,
        ScenarioResult,
        SuiteResult,
        TraceRef,
        TrialResult,
        Unclaimed,
    )
    from evalgate.models.trace import Warning_

MAX_CALLS = 1_000
"""Names of tool calls kept of a trial."""


def reason_doc(reason: Reason) -> ReasonDoc:
    """A reason of the decision; what it does not concern is absent."""
    document: ReasonDoc = {"code": reason.code, "message": bounded_text(reason.message)}
    if reason.suite is not None:
        document["suite"] = bounded_name(reason.suite)
    if reason.scenario is not None:
        document["scenario"] = bounded_name(reason.scenario)
        document["variant"] = _name(reason.variant)
    return document


def problem_doc(problem: Problem, code: str) -> ReasonDoc:
    """A mistake in what was handed in, with its remedy and its place."""
    hint = f" ({problem.hint})" if problem.hint else ""
    return {
        "code": code,
        "message": bounded_text(f"{problem.message}{hint}"),
        "location": _location(problem.location),
    }


def suite_doc(suite: SuiteResult, changes: Mapping[ScenarioKey, Change], verdict: str) -> SuiteDoc:
    """A suite with its scenarios in the order of the suite."""
    return {
        "suite": bounded_name(suite.name),
        "path": bounded_name(suite.path),
        "verdict": verdict,
        "score": mean_with_gaps(suite.scenarios),
        "scenarios": [
            _scenario_doc(scenario, changes.get(ScenarioKey(suite.name, scenario.id, scenario.variant)))
            for scenario in suite.scenarios
        ],
    }


def baseline_doc(baseline: BaselineInfo, summary: SummaryDoc | None) -> BaselineDoc:
    """Which baseline was compared with, and how it stood as a whole."""
    return {
        "status": baseline.status,
        "sha": _name(baseline.sha),
        "age_seconds": baseline.age_seconds,
        "path": _name(baseline.path),
        "distance": baseline.distance,
        "summary": summary,
    }


def removed_doc(standing: Standing) -> RemovedDoc:
    """A scenario that only the baseline has."""
    return {
        "suite": bounded_name(standing.key.suite),
        "id": bounded_name(standing.key.id),
        "variant": _name(standing.key.variant),
        "verdict": standing.verdict,
        "score": standing.score,
    }


def unclaimed_doc(unclaimed: Unclaimed) -> UnclaimedDoc:
    """A trace that no scenario asked for."""
    return {
        "suite": bounded_name(unclaimed.suite),
        "path": bounded_name(unclaimed.trace.path),
        "id": _name(unclaimed.trace.id),
        "scenario_id": _name(unclaimed.scenario_id),
        "line": unclaimed.trace.line,
        "record": unclaimed.trace.record,
    }


def warning_doc(warning: Warning_) -> WarningDoc:
    """A warning with its place."""
    return {
        "code": bounded_name(warning["code"]),
        "message": bounded_text(warning["message"]),
        "where": _name(warning["where"]),
    }


def _scenario_doc(scenario: ScenarioResult, change: Change | None) -> ScenarioDoc:
    interval = scenario.pass_rate_interval
    return {
        "id": bounded_name(scenario.id),
        "variant": _name(scenario.variant),
        "verdict": scenario.verdict,
        "score": scenario.score,
        "threshold": scenario.threshold,
        "n": len(scenario.trials),
        "pass_rate": scenario.pass_rate,
        "pass_rate_interval": None if interval is None else list(interval),
        "dimensions": None,
        "reason": None if scenario.reason is None else bounded_text(scenario.reason),
        "location": _location(scenario.location),
        "change": None if change is None else _change_doc(change),
        "trials": [_trial_doc(trial) for trial in scenario.trials],
    }


def _change_doc(change: Change) -> ChangeDoc:
    return {
        "kind": change.kind,
        "flags": list(change.flags),
        "score_delta": change.score_delta,
        "reason": bounded_text(change.reason),
        "increases": [bounded_text(increase) for increase in change.increases],
        "previous_verdict": change.previous_verdict,
        "p_value": change.p_value,
    }


def _trial_doc(trial: TrialResult) -> TrialDoc:
    return {
        "trial": trial.trial,
        "trace": _trace_doc(trial.trace),
        "status": trial.status,
        "score": trial.score,
        "cost_usd": trial.cost_usd,
        "latency_seconds": trial.latency_seconds,
        "total_tokens": whole(trial.total_tokens),
        "tool_calls": [bounded_name(name) for name in trial.tool_calls[:MAX_CALLS]],
        "reason": None if trial.reason is None else bounded_text(trial.reason),
        "assertions": [_assertion_doc(assertion) for assertion in trial.assertions],
    }


def _trace_doc(trace: TraceRef) -> TraceDoc:
    return {
        "id": _name(trace.id),
        "path": bounded_name(trace.path),
        "format": trace.format,
        "sha256": trace.sha256,
        "line": trace.line,
        "record": trace.record,
    }


def _assertion_doc(assertion: AssertionResult) -> AssertionDoc:
    return {
        "name": bounded_name(assertion.name),
        "type": assertion.type,
        "outcome": assertion.outcome,
        "score": assertion.score,
        "weight": assertion.weight,
        "required": assertion.required,
        "reason": bounded_text(assertion.reason),
        "location": _location(assertion.location),
        "evidence": bounded_evidence(assertion.evidence),
    }


def _location(location: Location | None) -> LocationDoc | None:
    if location is None:
        return None
    return {"file": bounded_name(location.file), "line": location.line, "column": location.column}


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)
