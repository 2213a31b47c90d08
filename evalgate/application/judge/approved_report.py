"""Decides a finished run again with approvals given since; no trace is judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.approvals.approve_change import resolve_consents
from evalgate.application.documents.run_documents import changes_of, run_of
from evalgate.application.documents.untrusted_report import report_of
from evalgate.application.messages.request import ApprovedReport
from evalgate.gate.common.scenarios import list_scenario_docs
from evalgate.gate.decision.approvals import rule_on_approvals
from evalgate.gate.decision.decide import apply_late_approvals
from evalgate.models.approvals.approval import Approvals
from evalgate.models.comparison.decision import Decision, Reason
from evalgate.reporting.markdown.heading import build_heading
from evalgate.reporting.results.rulings_doc import build_approval_doc
from evalgate.reporting.results.scenario_doc import build_reason_doc

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from datetime import date

    from evalgate.application.messages.request import RenderedReport
    from evalgate.models.approvals.approval import Approval, ApprovalRuling
    from evalgate.models.approvals.review import CommentApproval, TriggeringRun
    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.results.results import ReasonDoc, ResultsDoc
    from evalgate.models.results.results_sections import ApprovalDoc

NOTE = "note"


def approve_report(
    content: bytes,
    run: TriggeringRun,
    consents: Sequence[CommentApproval],
    render: Callable[[ResultsDoc, TriggeringRun], RenderedReport],
    notes: Sequence[str],
    today: date,
) -> ApprovedReport:
    """The report of the run with these comment approvals; raises SettingError or OverLimit if invalid."""
    results = report_of(content, run.head_sha)
    resolved = resolve_consents(consents)
    rulings = decide_with_approvals(results, resolved.approvals, today)
    messages = [f"{consent.label} does not count: {why}" for consent, why in resolved.refused]
    results["warnings"] += [{"code": NOTE, "message": each, "where": None} for each in (*notes, *messages)]
    refused = tuple((consent.provenance.comment_id or 0, why) for consent, why in resolved.refused)
    approvals = [build_approval_doc(ruling) for ruling in rulings]
    return ApprovedReport(render(results, run), build_heading(results).sentence, approvals, refused)


def decide_with_approvals(results: ResultsDoc, approvals: Sequence[Approval], today: date) -> Sequence[ApprovalRuling]:
    """Changes the document to what it would be if these approvals had counted in the run.

    Approvals from comments are ruled on again; rulings on those from files stay.
    """
    run, changes = run_of(results), changes_of(results)
    rulings = rule_on_approvals(run, changes, Approvals(tuple(approvals)), today)
    first_decision = Decision(
        results["verdict"],
        results["exit_code"],
        [_reason(reason) for reason in results["reasons"]],
        results["report_only"],
    )
    decision = apply_late_approvals(run, first_decision, rulings.approved)
    kept = [each for each in results["approvals"] if not _is_of_comment(each)]
    results["approvals"] = [*kept, *map(build_approval_doc, rulings.rulings)]
    results["verdict"], results["exit_code"] = decision.verdict, decision.exit_code
    results["reasons"] = [build_reason_doc(reason) for reason in decision.reasons]
    for suite in results["suites"]:
        suite["verdict"] = decision.suite_verdicts[suite["suite"]]
    _flag(results, rulings.approved)
    return rulings.rulings


def _flag(results: ResultsDoc, approved: Container[ScenarioKey]) -> None:
    for key, scenario in list_scenario_docs(results):
        change = scenario["change"]
        if change is not None and key in approved and "approved" not in change["flags"]:
            change["flags"].append("approved")


def _reason(document: ReasonDoc) -> Reason:
    return Reason(
        document["code"], document["message"], document.get("suite"), document.get("scenario"), document.get("variant")
    )


def _is_of_comment(approval: ApprovalDoc) -> bool:
    origin = approval.get("provenance")
    return origin is not None and origin["source"] == "comment"
