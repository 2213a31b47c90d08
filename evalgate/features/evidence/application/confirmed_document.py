"""The results document of a run whose scenarios that got worse are judged by all their trials."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalgate.application.documents.run_documents import run_of
from evalgate.gate.comparison.outcomes import compute_run_statistics
from evalgate.gate.decision.decide import apply_late_approvals
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.comparison.decision import VERDICTS, Decision, exit_code_of
from evalgate.models.run.arms import Confirmation
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.results.results_json import RunFindings, RunOrigin, build_results_document
from evalgate.reporting.results.statistics_doc import build_summary

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from evalgate.models.comparison.behaviour import BehaviourDifference
    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.comparison.decision import Reason
    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.run.run import Run

REPLACED = ("verdict", "exit_code", "report_only", "reasons", "summary", "figures")
"""Fields that follow from all trials; the first run's warnings, approvals, weakenings and the like stay."""
OF_FIRST_TRIALS = ("calls", "behaviour", "cause", "comes_with", "lost", "grown")
"""What a change says of the first trials, whose traces it was found in."""


def build_confirmed_document(
    first: ResultsDoc, sides: tuple[Run, Run], comparison: Comparison, reasons: Sequence[Reason], found: Confirmation
) -> ResultsDoc:
    """The first run's document, with the scenarios that were recorded again as all their trials judge them.

    `sides` are base and head with all trials, and `comparison` is theirs. No command repeats it: it is made of four
    runs.
    """
    base, run = sides
    built = _build_whole(first, run, comparison, reasons)
    keys = {ScenarioKey(each.suite, each.id, each.variant) for each in found.scenarios}
    suites = [_merge_suite(old, new, keys) for old, new in zip(first["suites"], built["suites"], strict=True)]
    replaced: dict[str, Any] = {name: built[name] for name in REPLACED if name in built}  # type: ignore[literal-required]
    document: dict[str, Any] = {**first, **replaced, "suites": suites, "command": None}
    document.pop("fetch_command", None)
    document["baseline"] = {**(first["baseline"] or {}), "summary": build_summary(base, (), 0)}
    if "comparison" in built:
        document["comparison"] = {**first.get("comparison", {}), **built["comparison"]}
    document["confirmation"] = clean_record(found, Confirmation)
    return document  # type: ignore[return-value]


def _build_whole(first: ResultsDoc, run: Run, comparison: Comparison, reasons: Sequence[Reason]) -> ResultsDoc:
    code = exit_code_of(each.code for each in reasons)
    decision = apply_late_approvals(run, Decision(VERDICTS[code], code, list(reasons), report_only=False), ())
    origin = RunOrigin(first["commit"], datetime.fromisoformat(first["created_at"]))
    statistics = compute_run_statistics(run, comparison)
    return build_results_document(run, comparison, decision, origin, RunFindings(statistics=statistics))


def _merge_suite(old: SuiteDoc, new: SuiteDoc, keys: Collection[ScenarioKey]) -> SuiteDoc:
    merged: SuiteDoc = {**old, "verdict": new["verdict"], "score": new["score"]}
    if "figures" in new:
        merged["figures"] = new["figures"]
    pairs = zip(old["scenarios"], new["scenarios"], strict=True)
    merged["scenarios"] = [
        _merge_scenario(one, other) if ScenarioKey(old["suite"], one["id"], one["variant"]) in keys else one
        for one, other in pairs
    ]
    return merged


def _merge_scenario(old: ScenarioDoc, new: ScenarioDoc) -> ScenarioDoc:
    before, now = old["change"], new["change"]
    if before is not None and now is not None:
        kept = {name: before[name] for name in OF_FIRST_TRIALS if name in before}  # type: ignore[literal-required]
        now.update(kept)  # type: ignore[typeddict-item]
    if known := _join_differences(old, new):
        new["differences"] = known
    if "unasked" in old:
        new["unasked"] = old["unasked"]
    return new


def _join_differences(old: ScenarioDoc, new: ScenarioDoc) -> list[BehaviourDifference]:
    """Those of the added trials, and those of other kinds that the first trials showed."""
    added = list(new.get("differences", ()))
    kinds = {each.kind for each in added}
    return [*added, *(each for each in old.get("differences", ()) if each.kind not in kinds)]


def build_added_document(more: ResultsDoc, confirmed: ResultsDoc) -> ResultsDoc:
    """The run of the added trials, without the scenarios that were not recorded again, with the verdict of all."""
    keys = {(each.suite, each.id, each.variant) for each in confirmed["confirmation"].scenarios}
    suites: list[SuiteDoc] = [
        {**suite, "scenarios": kept}
        for suite in more["suites"]
        if (kept := [each for each in suite["scenarios"] if (suite["suite"], each["id"], each["variant"]) in keys])
    ]
    found: ResultsDoc = {**more, "suites": suites, "unclaimed": [], "removed": [], "report_only": False}
    found["verdict"], found["exit_code"] = confirmed["verdict"], confirmed["exit_code"]
    found["reasons"], found["summary"] = confirmed["reasons"], build_summary(run_of(found), (), 0)
    return found
