"""Reads a finished run back from its results document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.application.documents.trial_documents import location_in, trial_in
from evalgate.models.run.run import Run, ScenarioResult, SuiteResult, TraceRef, UnclaimedTrace, Verdict

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc
    from evalgate.models.run.golden_result import GoldenResult


def run_of(document: ResultsDoc) -> Run:
    """The run as it was before any comparison."""
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
        UnclaimedTrace(
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
        [trial_in(each, document) for each in document["trials"]],
        variant=document["variant"],
        pass_rate=document["pass_rate"],
        pass_rate_interval=None if interval is None else (interval[0], interval[1]),
        reason=document["reason"],
        location=location_in(document["location"]),
        quarantined=document.get("quarantined") or False,
        golden=_golden(document),
    )


def _golden(document: ScenarioDoc) -> GoldenResult | None:
    if document.get("golden") is None:
        return None
    from evalgate.application.documents.golden_documents import golden_result_of

    return golden_result_of(document)
