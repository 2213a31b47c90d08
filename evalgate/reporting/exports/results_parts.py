"""The parts of `results.json`, one function a record."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from evalgate.models.comparison import ScenarioKey
from evalgate.reporting.exports.bounded import bounded_evidence, bounded_name, bounded_text, whole
from evalgate.reporting.exports.figures_doc import figures_doc, variant_doc
from evalgate.reporting.exports.summary import mean_with_gaps
from evalgate.scoring.variants import variants_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.errors import Location, Problem
    from evalgate.models.comparison import BaselineInfo, Change, Drift, Standing
    from evalgate.models.decision import Reason
    from evalgate.models.figures import Summed
    from evalgate.models.pricing import ModelUsage, Pricing
    from evalgate.models.results import (
        AssertionDoc,
        BaselineDoc,
        ChangeDoc,
        DriftDoc,
        LocationDoc,
        ModelUsageDoc,
        PricingDoc,
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

MAX_MODELS = 50
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


def suite_doc(
    suite: SuiteResult, changes: Mapping[ScenarioKey, Change], verdict: str, summed: Summed | None = None
) -> SuiteDoc:
    """A suite with its scenarios in the order of the suite."""
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
    """Which baseline was compared with, and how it stood as a whole."""
    document: BaselineDoc = {
        "status": baseline.status,
        "sha": _name(baseline.sha),
        "age_seconds": baseline.age_seconds,
        "path": _name(baseline.path),
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
    document: ScenarioDoc = {
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
    if scenario.quarantined:
        document["quarantined"] = True
    if scenario.golden is not None:
        from evalgate.reporting.exports.judged_golden_doc import golden_doc

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
            "before": _names(change.calls.before),
            "trial": change.calls.trial,
            "now": _names(change.calls.now),
        }
    if change.cause is not None:
        from evalgate.reporting.exports.weakenings_doc import cause_doc

        document["cause"] = cause_doc(change.cause)
    if change.behaviour is not None:
        from evalgate.reporting.exports.behaviour_doc import behaviour_doc

        document["behaviour"] = behaviour_doc(change.behaviour)
    return document


def _names(calls: list[str]) -> list[str]:
    return _names_of(tuple(calls[:MAX_CALLS]))


@lru_cache(maxsize=1_024)
def _names_of(calls: tuple[str, ...]) -> list[str]:
    """One list for all trials that made the same calls."""
    return [bounded_name(name) for name in calls]


def _trial_doc(trial: TrialResult) -> TrialDoc:
    document: TrialDoc = {
        "trial": trial.trial,
        "trace": _trace_doc(trial.trace),
        "status": trial.status,
        "score": trial.score,
        "cost_usd": trial.cost_usd,
        "latency_seconds": trial.latency_seconds,
        "total_tokens": whole(trial.total_tokens),
        "input_tokens": whole(trial.input_tokens),
        "output_tokens": whole(trial.output_tokens),
        "tool_calls": _names(trial.tool_calls),
        "reason": None if trial.reason is None else bounded_text(trial.reason),
        "assertions": [_assertion_doc(assertion) for assertion in trial.assertions],
    }
    if trial.pricing is not None:
        document["pricing"] = _pricing_doc(trial.pricing)
    if trial.golden is not None:
        from evalgate.reporting.exports.judged_golden_doc import golden_trial_doc

        document["golden"] = golden_trial_doc(trial.golden)
    return document


def _pricing_doc(pricing: Pricing) -> PricingDoc:
    """Models are names that a trace chose."""
    usage = pricing["usage"]
    return {
        "table": _name(pricing["table"]),
        "usd": pricing["usd"],
        "known_usd": pricing["known_usd"],
        "recorded_usd": pricing["recorded_usd"],
        "missing_models": [bounded_name(model) for model in pricing["missing_models"][:MAX_MODELS]],
        "usage": None if usage is None else [_usage_doc(row) for row in usage],
    }


def _usage_doc(row: ModelUsage) -> ModelUsageDoc:
    return {
        "model": bounded_name(row["model"]),
        "provider": _name(row["provider"]),
        "request_tokens": row["request_tokens"],
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "cache_read_input_tokens": row["cache_read_input_tokens"],
        "cache_write_input_tokens": row["cache_write_input_tokens"],
    }


def _trace_doc(trace: TraceRef) -> TraceDoc:
    document: TraceDoc = {
        "id": _name(trace.id),
        "path": bounded_name(trace.path),
        "format": trace.format,
        "sha256": trace.sha256,
        "line": trace.line,
        "record": trace.record,
    }
    if trace.commit is not None:
        document["commit"] = bounded_name(trace.commit)
    if trace.agent_hash is not None:
        document["agent_hash"] = bounded_name(trace.agent_hash)
    if trace.recorded_at is not None:
        document["recorded_at"] = bounded_name(trace.recorded_at)
    if trace.stale is not None:
        document["stale"] = bounded_text(trace.stale)
    return document


def _assertion_doc(assertion: AssertionResult) -> AssertionDoc:
    if assertion.told is not None:
        shared: AssertionDoc = assertion.told
        return shared
    document: AssertionDoc = {
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
    if assertion.is_shared:
        assertion.told = document
    return document


@lru_cache(maxsize=1_024)
def _location(location: Location | None) -> LocationDoc | None:
    if location is None:
        return None
    return {"file": bounded_name(location.file), "line": location.line, "column": location.column}


def _name(text: str | None) -> str | None:
    return None if text is None else bounded_name(text)
