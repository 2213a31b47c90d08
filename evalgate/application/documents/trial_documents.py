"""Reads a trial back from its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import orjson

from evalgate.errors import Location
from evalgate.models.run.golden_result import is_unjudged_dimension
from evalgate.models.run.run import AssertionResult, Outcome, TraceRef, TrialResult, TrialStatus

if TYPE_CHECKING:
    from evalgate.models.results.results import AssertionDoc, LocationDoc, ScenarioDoc, TraceDoc, TrialDoc
    from evalgate.models.run.golden_result import GoldenTrial


def trial_of(document: bytes) -> TrialResult:
    """Reads a trial of a scenario without golden."""
    return trial_in(orjson.loads(document), None)


def _golden_trial(document: TrialDoc, scenario: ScenarioDoc | None) -> GoldenTrial | None:
    if scenario is None or document.get("golden") is None:
        return None
    from evalgate.application.documents.golden_documents import golden_trial_of

    return golden_trial_of(document, scenario)


def trial_in(document: TrialDoc, scenario: ScenarioDoc | None) -> TrialResult:
    """Reads a trial; `scenario` holds its golden, if it has one."""
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
        stale=document.get("stale"),
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
        location_in(document["location"]),
        document["evidence"],
        counts=not is_unjudged_dimension(document["type"], document["outcome"]),
    )


def location_in(document: LocationDoc | None) -> Location | None:
    """Reads a location in a suite."""
    return None if document is None else Location(document["file"], document["line"], document["column"])
