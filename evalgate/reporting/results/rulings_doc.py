"""Builds the approvals, quarantines, weakenings and history of `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.reporting.results.clean_values import clean_name, clean_optional_name, clean_optional_text, clean_text
from evalgate.reporting.results.trial_doc import build_location_doc
from evalgate.scoring.wording import describe_weakening

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.approvals.approval import ApprovalRuling, Provenance
    from evalgate.models.comparison.weakening import QuarantineRuling, Weakening, WeakeningList
    from evalgate.models.history.stability import RunHistory, Stability
    from evalgate.models.history.stored_run import TrendPoint
    from evalgate.models.mutation import SuiteMutations
    from evalgate.models.results.results_sections import (
        ApprovalDoc,
        FlakyDoc,
        HistoryDoc,
        MutationScoreDoc,
        PastRunDoc,
        ProvenanceDoc,
        QuarantineDoc,
        WeakeningDoc,
    )


def build_approval_doc(ruling: ApprovalRuling) -> ApprovalDoc:
    """Builds the record of one approval, with its status."""
    approval = ruling.approval
    document: ApprovalDoc = {
        "suite": clean_name(approval.suite),
        "scenario": clean_name(approval.scenario),
        "variant": clean_optional_name(approval.variant),
        "assertion": clean_optional_name(approval.assertion),
        "change": approval.change,
        "limit": None if approval.least_score is None else {"score": approval.least_score},
        "trace": sorted(approval.traces),
        "reason": clean_text(approval.reason),
        "who": clean_name(approval.who),
        "until": approval.until.isoformat(),
        "days_left": ruling.days_left,
        "status": ruling.status,
        "message": clean_text(ruling.message),
        "location": build_location_doc(approval.location),
    }
    if approval.checks is not None:
        document["checks"] = sorted(map(clean_name, approval.checks))
    if approval.covers is not None:
        document["covers"] = sorted(map(clean_name, approval.covers))
    if approval.provenance is not None:
        document["provenance"] = _build_provenance_doc(approval.provenance)
    return document


def _build_provenance_doc(provenance: Provenance) -> ProvenanceDoc:
    document: ProvenanceDoc = {
        "source": provenance.source,
        "pull_request": provenance.pull_request,
        "comment_id": provenance.comment_id,
        "comment_url": clean_optional_name(provenance.comment_url),
        "head_commit": clean_optional_name(provenance.head_commit),
        "permission": clean_optional_name(provenance.permission),
        "self_approved": provenance.self_approved,
    }
    if provenance.repository is not None:
        document["repository"] = clean_name(provenance.repository)
    return document


def build_quarantine_doc(ruling: QuarantineRuling) -> QuarantineDoc:
    """Builds the record of one quarantine, with its status."""
    quarantine = ruling.quarantine
    return {
        "suite": clean_name(ruling.suite),
        "scenario": clean_name(quarantine.scenario),
        "variant": clean_optional_name(quarantine.variant),
        "scenarios": ruling.scenarios,
        "reason": clean_text(quarantine.reason),
        "who": clean_optional_name(quarantine.who),
        "until": quarantine.until.isoformat(),
        "days_left": ruling.days_left,
        "status": ruling.status,
        "message": clean_text(ruling.message),
        "location": build_location_doc(quarantine.location),
    }


def build_mutation_scores_doc(found: Sequence[SuiteMutations]) -> list[MutationScoreDoc]:
    """Builds how many small changes each changed suite notices."""
    return [
        {
            "suite": clean_name(each.suite),
            "score": each.tally.score,
            "changes": each.tally.tried,
            "baseline_score": None if each.baseline is None else each.baseline.score,
            "baseline_changes": 0 if each.baseline is None else each.baseline.tried,
        }
        for each in found
    ]


def build_weakenings_doc(weakenings: WeakeningList) -> list[WeakeningDoc]:
    """Builds the weakenings that are listed."""
    return [_build_weakening_doc(each, gates=each.suite in weakenings.failing) for each in weakenings.listed]


def _build_weakening_doc(each: Weakening, *, gates: bool) -> WeakeningDoc:
    return {
        "kind": each.kind,
        "suite": clean_optional_name(each.suite),
        "scenario": clean_optional_name(each.scenario),
        "variant": clean_optional_name(each.variant),
        "assertion": clean_optional_name(each.assertion),
        "before": clean_optional_text(each.baseline),
        "after": clean_optional_text(each.current),
        "location": build_location_doc(each.location),
        "scenarios": each.scenarios,
        "gates": gates,
        "message": clean_text(describe_weakening(each)),
    }


MAX_RUNS = 30
MAX_FLAKY = 200


def build_history_doc(history: RunHistory, current_run: PastRunDoc, flaky: Iterable[Stability]) -> HistoryDoc:
    """Builds the history: past runs, then `current_run`; newly flaky scenarios come first."""
    ordered = sorted(flaky, key=lambda each: (not each.is_new, -each.flips, each.key))
    return {
        "branch": clean_optional_name(history.branch),
        "runs": [*map(_build_past_run, history.runs[-MAX_RUNS + 1 :]), current_run],
        "flaky": [_build_flaky(each) for each in ordered[:MAX_FLAKY]],
        "flaky_left": max(0, len(ordered) - MAX_FLAKY),
    }


def _build_past_run(point: TrendPoint) -> PastRunDoc:
    document: PastRunDoc = {
        "at": point.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": clean_optional_name(point.commit),
        "verdict": clean_name(point.verdict),
        "score": point.score,
        "pass_rate": point.pass_rate,
        "cost_usd": point.cost_usd,
    }
    if point.not_measured:
        document["not_measured"] = point.not_measured
    return document


def _build_flaky(stability: Stability) -> FlakyDoc:
    suite, scenario, variant = stability.key
    return {
        "suite": clean_name(suite),
        "scenario": clean_name(scenario),
        "variant": clean_optional_name(variant),
        "runs": stability.runs,
        "passed": stability.passed,
        "flips": stability.flips,
        "since": stability.since.strftime("%Y-%m-%dT%H:%M:%SZ") if stability.since is not None else None,
        "new": stability.is_new,
    }
