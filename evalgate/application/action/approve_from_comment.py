"""Approves failures of a pull request by a comment, for its head commit only.

The comment, the author's permission, the change and its runs are read from GitHub; only numbers are taken
from the event. What is approved is looked up in the report that the gate's own run uploaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.action.post_check_run import post_check
from evalgate.application.action.post_comment import CommentText, keep_comment, say, template_from
from evalgate.application.approvals.comment_approvals import SHORT_SHA, CommentVerifier
from evalgate.application.messages.request import Judgement, JudgeRequest
from evalgate.errors import InvalidInput, Unreachable
from evalgate.models.approvals.approval import Approval
from evalgate.records import dataclass, replace
from evalgate.suite.approve_command import read_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.application.approvals.comment_approvals import Refusal, VerifiedComments
    from evalgate.application.messages.request import ApprovedReport, RenderOptions
    from evalgate.models.approvals.comment_approval import CommentApproval
    from evalgate.models.approvals.review import GateRun, PullRequestComment, ReviewedChange
    from evalgate.models.approvals.triggering_run import TriggeringRun
    from evalgate.models.results.results_approvals import ApprovalDoc
    from evalgate.ports import CheckRuns, PullRequest, ReportFiles, StepOutput, TemplateSource
    from evalgate.ports.review import Review

APPROVED, REFUSED, UNREACHABLE = 0, 2, 4
MOST_TOLD = 20
NO_CHECK = "no check run: it would be green by the word of a fork's own run"
REMEDY = "let it finish; it needs `approvals-from: comments`, and both workflows the same `comment-key`"


@dataclass(frozen=True, slots=True)
class CommentAtHand:
    """The comment that triggered the run, as the event describes it: enough to skip unrelated comments."""

    id: int
    body: str
    is_new: bool
    is_on_pull_request: bool


@dataclass(frozen=True, slots=True)
class ApproveTask:
    """Which comment to process, and how to render the report."""

    comment: CommentAtHand
    form: RenderOptions
    run_url: str  # URL of a run's page, without its number
    allow_self: bool = False
    keeps_comment: bool = True
    summarise: bool = True


@dataclass(frozen=True, slots=True)
class ApproveWorld:
    """The ports that approving needs; None if this run has no such port."""

    review: Review
    files: ReportFiles
    decide: Callable[
        [bytes, TriggeringRun, Sequence[CommentApproval], RenderOptions, Sequence[str]], ApprovedReport
    ]
    pull_request: PullRequest
    step: StepOutput
    template: TemplateSource | None = None
    checks: CheckRuns | None = None
    record: Callable[[Sequence[Approval]], None] | None = None


class _Refused(Exception):
    pass


def approve(task: ApproveTask, world: ApproveWorld) -> int:
    """Decides the run again with the approvals, then updates the comment and, if enabled, the check run.

    Returns 0 if the comment's approval counts or it contains none, 2 if it is refused, 4 if GitHub fails.
    """
    try:
        said = _approve(task, world)
    except _Refused as why:
        say(world.step, "error", f"nothing is approved: {why}")
        code = REFUSED
    except Unreachable as trouble:
        say(world.step, "error", f"nothing is approved, for it can't be looked up: {trouble}")
        code = UNREACHABLE
    else:
        world.step.log(said)
        code = APPROVED
    world.step.outputs({"exit-code": str(code)})
    return code


def _approve(task: ApproveTask, world: ApproveWorld) -> str:
    comment = task.comment
    if not comment.is_on_pull_request or read_command(comment.body) is None:
        return "EvalGate: the comment holds no command for a pull request"
    if not comment.is_new:
        raise _Refused("only a comment that was just written approves: write a new one")
    remark = world.review.remark(comment.id)
    if remark is None:
        raise _Refused("the comment is gone")
    change = world.review.change()
    runs = _judged(world.review, change)
    vetting = CommentVerifier(world.review, world.files, change, runs, allow_self=task.allow_self)
    vetted = vetting.vetted()
    refusal = _refusal_of(remark, vetted)
    if refusal is not None and not refusal.is_known:
        raise _Refused(str(refusal))
    content = vetting.latest_report()
    if content is None:
        raise _Refused(f"the gate's run {runs[0].run.id} has left no report: {REMEDY}")
    report = _decided(content, runs[0].run, vetted, task, world)
    _still_at(change, world.review)
    active = [each for each in report.told if _comment_of(each) == remark.id and each["status"] == "active"]
    _record(active, vetted.consents, world)
    _publish(task, runs[0].run, report, world)
    if not active:
        raise _Refused(str(refusal or _why_nothing(remark.id, report)))
    return f"EvalGate: {report.written.results['verdict']}, with {_told(active)}"


def _judged(review: Review, change: ReviewedChange) -> Sequence[GateRun]:
    """The gate's runs for the change, newest first; the newest must be for its head commit."""
    if not change.is_open:
        raise _Refused(f"pull request {change.number} is closed")
    runs = review.gate_runs(change)
    if not runs or runs[0].run.head_sha != change.head_sha:
        raise _Refused(f"the gate has not judged commit {change.head_sha[:SHORT_SHA]} yet")
    twins = review.twins(change)
    if twins:
        named = ", ".join(map(str, twins[:MOST_TOLD]))
        raise _Refused(f"pull request {named} has the same head, and the run may be of either: push to one")
    return runs


def _refusal_of(remark: PullRequestComment, vetted: VerifiedComments) -> Refusal | None:
    """Why the comment does not count, or None; raises _ApprovalRefusedError if it predates the last push."""
    for refusal in vetted.refusals:
        if refusal.comment == remark.id:
            return refusal
    if remark.id not in {consent.provenance.comment_id for consent in vetted.consents}:
        raise _Refused("the comment is older than the newest push, which voids what was approved before")
    return None


def _decided(
    content: bytes, run: TriggeringRun, vetted: VerifiedComments, task: ApproveTask, world: ApproveWorld
) -> ApprovedReport:
    template = template_from(world.template, world.step)
    form = replace(task.form, run_url=f"{task.run_url}{run.id}", template=template)
    notes = [str(refusal) for refusal in vetted.refusals if refusal.is_known]
    try:
        return world.decide(content, run, vetted.consents, form, notes[:MOST_TOLD])
    except InvalidInput as mistake:
        reasons = "; ".join(problem.message for problem in mistake.problems)
        raise _Refused(f"the report of run {run.id} is refused: {reasons}") from None


def _why_nothing(comment: int, report: ApprovedReport) -> str:
    """Why a valid comment approves nothing."""
    for number, why in report.refused:
        if number == comment:
            return f"comment {number} approves nothing: {why}"
    told = [each for each in report.told if _comment_of(each) == comment]
    return "; ".join(f"{each['scenario']}: {each['message']}" for each in told[:MOST_TOLD])


def _comment_of(approval: ApprovalDoc) -> int | None:
    origin = approval.get("provenance")
    return origin["comment_id"] if origin is not None else None


def _still_at(change: ReviewedChange, review: Review) -> None:
    """Refuses if the head commit changed meanwhile, so that only judged commits are approved."""
    head = review.change().head_sha
    if head != change.head_sha:
        raise _Refused(f"void: the pull request has moved on to {head[:SHORT_SHA]} meanwhile")


def _record(active: Sequence[ApprovalDoc], consents: Sequence[CommentApproval], world: ApproveWorld) -> None:
    """Stores the approvals. Author, reason and URL come from the comment, the rest from the report."""
    if world.record is None or not active:
        return
    by_comment = {consent.provenance.comment_id: consent for consent in consents}
    try:
        world.record([_approval(each, by_comment[_comment_of(each)]) for each in active])
    except (Unreachable, InvalidInput) as trouble:
        say(world.step, "warning", f"the approval was not stored: {trouble}")


def _approval(told: ApprovalDoc, consent: CommentApproval) -> Approval:
    limit, checks = told["limit"], told.get("checks")
    return Approval(
        suite=told["suite"],
        scenario=told["scenario"],
        variant=told["variant"],
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


def _publish(task: ApproveTask, run: TriggeringRun, report: ApprovedReport, world: ApproveWorld) -> None:
    written, key = report.written, task.form.comment_key
    for warning in written.warnings:
        say(world.step, "warning", warning)
    if task.summarise:
        world.step.summary(written.summary)
    if task.keeps_comment:
        text = CommentText(key, written.comment, run.head_sha)
        keep_comment(text, world.pull_request, world.step)
    if world.checks is None:
        return
    if not run.is_ours:
        say(world.step, "notice", NO_CHECK)
        return
    url = f"{task.run_url}{run.id}"
    request = JudgeRequest(commit=run.head_sha, comment_key=key, report_url=url)
    files = {"comment.md": written.comment.encode()}
    judgement = Judgement(written.results, files, heading=report.heading)
    post_check(request, judgement, world.checks, world.step)


def _told(active: Sequence[ApprovalDoc]) -> str:
    names = ", ".join(f"{each['suite']} / {each['scenario']}" for each in active[:MOST_TOLD])
    left = len(active) - MOST_TOLD
    return f"{names}{f' and {left} more' if left > 0 else ''} approved by {active[0]['who']}"
