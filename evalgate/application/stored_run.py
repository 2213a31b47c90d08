"""A finished run, read back from its results document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.errors import Location
from evalgate.models.golden_result import is_unjudged_dimension
from evalgate.models.run import (
    AssertionResult,
    Outcome,
    Run,
    ScenarioResult,
    SuiteResult,
    TraceRef,
    TrialResult,
    TrialStatus,
    Unclaimed,
    Verdict,
)

if TYPE_CHECKING:
    from evalgate.models.golden_result import GoldenResult, GoldenTrial
    from evalgate.models.results import AssertionDoc, LocationDoc, ResultsDoc, ScenarioDoc, TraceDoc, TrialDoc


def run_of(document: ResultsDoc) -> Run:
    """The run as it stood before it was compared with anything."""
    summary = document["summary"]
    suites = [
        SuiteResult(
            suite["suite"],
            suite["path"],
            [_scenario(each) for each in suite["scenarios"]],
            traces=sum(len(each["trials"]) for each in suite["scenarios"]),
        )
        for suite in document["suites"]
    ]
    if suites and summary is not None:
        suites[0].skipped = summary["skipped"]  # the document counts them for the whole run
    unclaimed = [
        Unclaimed(
            each["suite"],
            TraceRef(each["id"], each["path"], "", None, each["line"], each["record"]),
            each["scenario_id"],
        )
        for each in document["unclaimed"]
    ]
    return Run(suites, unclaimed)


def _scenario(document: ScenarioDoc) -> ScenarioResult:
    interval = document["pass_rate_interval"]
    return ScenarioResult(
        document["id"],
        cast("Verdict", document["verdict"]),
        document["score"],
        document["threshold"],
        [_trial(each, document) for each in document["trials"]],
        variant=document["variant"],
        pass_rate=document["pass_rate"],
        pass_rate_interval=None if interval is None else (interval[0], interval[1]),
        reason=document["reason"],
        location=_location(document["location"]),
        quarantined=document.get("quarantined") or False,
        golden=_golden(document),
    )


def _golden(document: ScenarioDoc) -> GoldenResult | None:
    if document.get("golden") is None:
        return None
    from evalgate.application.stored_goldens import golden_result_of

    return golden_result_of(document)


def _golden_trial(document: TrialDoc, scenario: ScenarioDoc) -> GoldenTrial | None:
    if document.get("golden") is None:
        return None
    from evalgate.application.stored_goldens import golden_trial_of

    return golden_trial_of(document, scenario)


def _trial(document: TrialDoc, scenario: ScenarioDoc) -> TrialResult:
    return TrialResult(
        document["trial"],
        _trace(document["trace"]),
        cast("TrialStatus", document["status"]),
        document["score"],
        [_assertion(each) for each in document["assertions"]],
        cost_usd=document["cost_usd"],
        latency_seconds=document["latency_seconds"],
        total_tokens=document["total_tokens"],
        input_tokens=document["input_tokens"],
        output_tokens=document["output_tokens"],
        tool_calls=document["tool_calls"],
        reason=document["reason"],
        pricing=document.get("pricing"),
        golden=_golden_trial(document, scenario),
    )


def _trace(document: TraceDoc) -> TraceRef:
    return TraceRef(
        document["id"],
        document["path"],
        document["format"],
        document["sha256"],
        document["line"],
        document["record"],
        commit=document.get("commit"),
        agent_hash=document.get("agent_hash"),
        recorded_at=document.get("recorded_at"),
    )


def _assertion(document: AssertionDoc) -> AssertionResult:
    return AssertionResult(
        document["name"],
        document["type"],
        cast("Outcome", document["outcome"]),
        document["score"],
        document["weight"],
        document["required"],
        document["reason"],
        _location(document["location"]),
        document["evidence"],
        counts=not is_unjudged_dimension(document["type"], document["outcome"]),
    )


def _location(document: LocationDoc | None) -> Location | None:
    return None if document is None else Location(document["file"], document["line"], document["column"])
