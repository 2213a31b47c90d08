"""Approves failures of a pull request by a comment, for its head commit only.

The comment, the author's permission, the change and its runs are read from GitHub; only numbers are taken
from the event. What is approved is looked up in the report that the gate's own run uploaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.action.deliver import add_line, find_line
from evalgate.application.action.post_comment import (
    CommentText,
    add_annotation,
    add_to_comment,
    load_template,
    post_check,
    post_comment,
)
from evalgate.application.approvals.comment_approvals import SHORT_SHA, CommentVerifier
from evalgate.application.messages.request import Judgement, JudgeRequest
from evalgate.errors import InvalidInput, Unreachable
from evalgate.models.approvals.approval import Approval
from evalgate.ports.outputs import RenderOptions, RunSubject
from evalgate.suite.approve_command import parse_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.approvals.comment_approvals import Refusal, VerifiedComments
    from evalgate.application.messages.request import ApprovedReport
    from evalgate.models.approvals.review import (
        CommentApproval,
        GateRun,
        PullRequestComment,
        PullRequestState,
        TriggeringRun,
    )
    from evalgate.models.results.results_sections import ApprovalDoc
    from evalgate.ports import CheckRuns, PullRequest, ReportFiles, StepOutput, TemplateSource
    from evalgate.ports.review import Review

APPROVED, REFUSED, UNREACHABLE = 0, 2, 4
MAX_LISTED = 20
NO_CHECK = "no check run: its result would come from the fork's own run"
REMEDY = "wait for it to finish; it needs `approvals-from: comments`, and both workflows need the same `comment-key`"


class TriggeringComment(Struct, frozen=True):
    """The comment that triggered the run, as the event describes it: enough to skip unrelated comments."""

    id: int
    body: str
    is_new: bool
    is_on_pull_request: bool


class ApproveOptions(Struct, frozen=True):
    """Which comment to process, and how to render the report."""

    comment: TriggeringComment
    render_options: RenderOptions
    run_url: str  # URL of a run's page, without its number
    allow_self: bool = False
    keeps_comment: bool = True
    summarise: bool = True


class ApprovePorts(Struct, frozen=True):
    """The ports that approving needs; None if this run has no such port."""

    review: Review
    files: ReportFiles
    decide: Callable[[bytes, TriggeringRun, Sequence[CommentApproval], RenderOptions, Sequence[str]], ApprovedReport]
    pull_request: PullRequest
    step: StepOutput
    template: TemplateSource | None = None
    checks: CheckRuns | None = None
    record: Callable[[Sequence[Approval]], None] | None = None


class _ApprovalRefusedError(Exception):
    pass


def approve(options: ApproveOptions, ports: ApprovePorts) -> int:
    """Decides the run again with the approvals, then updates the comment and, if enabled, the check run.

    Returns 0 if the comment's approval counts or it contains none, 2 if it is refused, 4 if GitHub fails.
    """
    try:
        message = _approve(options, ports)
    except _ApprovalRefusedError as refusal:
        add_annotation(ports.step, "error", f"no failure was approved: {refusal}")
        code = REFUSED
    except Unreachable as trouble:
        add_annotation(ports.step, "error", f"no failure was approved, because a request to GitHub failed: {trouble}")
        code = UNREACHABLE
    else:
        ports.step.log(message)
        code = APPROVED
    ports.step.outputs({"exit-code": str(code)})
    return code


def _approve(options: ApproveOptions, ports: ApprovePorts) -> str:
    comment = options.comment
    if not comment.is_on_pull_request or parse_command(comment.body) is None:
        return "EvalGate: the comment contains no command for a pull request"
    if not comment.is_new:
        raise _ApprovalRefusedError("only a new comment can approve: write a new one")
    posted = ports.review.comment(comment.id)
    if posted is None:
        raise _ApprovalRefusedError("the comment was deleted")
    change = ports.review.change()
    runs = _find_gate_runs(ports.review, change)
    verifier = CommentVerifier(ports.review, ports.files, change, runs, allow_self=options.allow_self)
    verified = verifier.verify_comments()
    refusal = _refusal_of(posted, verified)
    if refusal is not None and not refusal.is_known:
        raise _ApprovalRefusedError(str(refusal))
    content = verifier.latest_report()
    if content is None:
        raise _ApprovalRefusedError(f"run {runs[0].run.id} of the gate uploaded no report: {REMEDY}")
    report = _decide_with_approvals(content, runs[0].run, verified, options, ports)
    _require_same_head(change, ports.review)
    active = [each for each in report.approvals if _comment_id_of(each) == posted.id and each["status"] == "active"]
    _record(active, verified.consents, ports)
    _publish(options, runs[0].run, report, ports)
    if not active:
        raise _ApprovalRefusedError(str(refusal or _explain_no_approval(posted.id, report)))
    return f"EvalGate: {report.rendered.results['verdict']}, with {_describe_approved(active)}"


def _find_gate_runs(review: Review, change: PullRequestState) -> Sequence[GateRun]:
    """The gate's runs for the change, newest first; the newest must be for its head commit."""
    if not change.is_open:
        raise _ApprovalRefusedError(f"pull request {change.number} is closed")
    runs = review.gate_runs(change)
    if not runs or runs[0].run.head_sha != change.head_sha:
        raise _ApprovalRefusedError(
            f"the gate has not judged commit {change.head_sha[:SHORT_SHA]} yet: wait for it, then comment again"
        )
    others = review.other_pull_requests(change)
    if others:
        named = ", ".join(map(str, others[:MAX_LISTED]))
        raise _ApprovalRefusedError(
            f"pull request {named} has the same head, so the run may belong to either: push a commit to one"
        )
    return runs


def _refusal_of(comment: PullRequestComment, verified: VerifiedComments) -> Refusal | None:
    """Why the comment does not count, or None; raises _ApprovalRefusedError if it predates the last push."""
    for refusal in verified.refusals:
        if refusal.comment == comment.id:
            return refusal
    if comment.id not in {consent.provenance.comment_id for consent in verified.consents}:
        raise _ApprovalRefusedError("the comment is older than the newest push, which voids earlier approvals")
    return None


def _decide_with_approvals(
    content: bytes, run: TriggeringRun, verified: VerifiedComments, options: ApproveOptions, ports: ApprovePorts
) -> ApprovedReport:
    template = load_template(ports.template, ports.step)
    render_options = replace(options.render_options, run_url=f"{options.run_url}{run.id}", template=template)
    notes = [str(refusal) for refusal in verified.refusals if refusal.is_known]
    try:
        return ports.decide(content, run, verified.consents, render_options, notes[:MAX_LISTED])
    except InvalidInput as error:
        reasons = "; ".join(problem.message for problem in error.problems)
        raise _ApprovalRefusedError(f"the report of run {run.id} is refused: {reasons}") from None


def _explain_no_approval(comment: int, report: ApprovedReport) -> str:
    for number, why in report.refused:
        if number == comment:
            return f"comment {number} does not count: {why}"
    approvals = [each for each in report.approvals if _comment_id_of(each) == comment]
    return "; ".join(f"{each['scenario']}: {each['message']}" for each in approvals[:MAX_LISTED])


def _comment_id_of(approval: ApprovalDoc) -> int | None:
    origin = approval.get("provenance")
    return origin["comment_id"] if origin is not None else None


def _require_same_head(change: PullRequestState, review: Review) -> None:
    """Refuses if the head commit changed meanwhile, so that only judged commits are approved."""
    head = review.change().head_sha
    if head != change.head_sha:
        raise _ApprovalRefusedError(f"the pull request has the newer commit {head[:SHORT_SHA]}")


def _record(active: Sequence[ApprovalDoc], consents: Sequence[CommentApproval], ports: ApprovePorts) -> None:
    """Stores the approvals. Author, reason and URL come from the comment, the rest from the report."""
    if ports.record is None or not active:
        return
    by_comment = {consent.provenance.comment_id: consent for consent in consents}
    try:
        ports.record([_build_approval(each, by_comment[_comment_id_of(each)]) for each in active])
    except (Unreachable, InvalidInput) as trouble:
        add_annotation(ports.step, "warning", f"the approval was not stored: {trouble}")


def _build_approval(document: ApprovalDoc, consent: CommentApproval) -> Approval:
    limit, checks = document["limit"], document.get("checks")
    return Approval(
        suite=document["suite"],
        scenario=document["scenario"],
        variant=document["variant"],
        assertion=None,
        change=None,
        least_score=limit["score"] if limit is not None else None,
        reason=consent.reason,
        who=consent.who,
        until=consent.until,
        traces=frozenset(),
        location=None,
        checks=None if checks is None else frozenset(checks),
        provenance=consent.provenance,
    )


def _publish(options: ApproveOptions, run: TriggeringRun, report: ApprovedReport, ports: ApprovePorts) -> None:
    rendered, key = report.rendered, options.render_options.comment_key
    for warning in rendered.warnings:
        add_annotation(ports.step, "warning", warning)
    if options.summarise:
        ports.step.summary(rendered.summary)
    if options.keeps_comment:
        copy = "the job summary" if options.summarise else ""
        text = CommentText(key, rendered.comment, run.head_sha, copy=copy)
        _post(text, ports)
    if ports.checks is None:
        return
    if not run.is_same_repository:
        add_annotation(ports.step, "notice", NO_CHECK)
        return
    url = f"{options.run_url}{run.id}"
    request = JudgeRequest(subject=RunSubject(run.head_sha), render=RenderOptions(key, run_url=url))
    files = {"comment.md": rendered.comment.encode()}
    judgement = Judgement(rendered.results, files, heading=report.heading)
    post_check(request, judgement, ports.checks, ports.step)


def _post(text: CommentText, ports: ApprovePorts) -> None:
    """Posts the comment with the links to trackers that the gate's comment has: nothing is published again here."""
    posted = post_comment(text, ports.pull_request, ports.step)
    line = find_line(posted.replaced)
    if line:
        add_to_comment(text, lambda body: add_line(body, line), ports.pull_request, ports.step)


def _describe_approved(active: Sequence[ApprovalDoc]) -> str:
    names = ", ".join(f"{each['suite']} / {each['scenario']}" for each in active[:MAX_LISTED])
    left = len(active) - MAX_LISTED
    return f"{names}{f' and {left} more' if left > 0 else ''} approved by {active[0]['who']}"
