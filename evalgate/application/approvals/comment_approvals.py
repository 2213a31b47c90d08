"""Verifies comments that approve failures against GitHub's own data, so that forged ones do not count.

An approval counts for one commit. The comment must not be edited, and its author must have write access and
no part in the change. It must be newer than the arrival of the commit and the gate's judgement of it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from evalgate.errors import InvalidInput, Unreachable
from evalgate.models.approvals.approval import Provenance
from evalgate.models.approvals.review import CommentApproval
from evalgate.suite.approve_command import ApproveCommand, parse_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.approvals.review import (
        Account,
        Contributors,
        GateRun,
        Permission,
        PullRequestComment,
        PullRequestState,
        ReportArtifact,
    )
    from evalgate.ports import ReportFiles, StepOutput
    from evalgate.ports.review import Review


DEFAULT_DAYS = 14
"""Validity of an approval that names no last day."""
MOST_DAYS = 90
MOST_COMMANDS = 100
MOST_PEOPLE = 20
"""How many people are looked up on GitHub: anyone may comment any number of times."""
SHORT_SHA = 7
BOT = "it was written by a bot or an app, and only a person can approve"
EDITED = "it was edited: write a new comment"
OLDER = "it is older than the newest push: every push voids earlier approvals"
UNJUDGED = "the gate had not judged this commit yet: comment again"
OWN = "contributors to a change may not approve it (unless `allow-self-approval` is set)"
MANY = "too many people commented to check the permissions of all"
OWN_ACCOUNT = "the account was deleted, or its name belongs to another account now"


class Refusal(NamedTuple):
    """A comment that approves nothing. `is_known`: its author has write access, so reports mention it."""

    comment: int
    who: str
    why: str
    is_known: bool

    def __str__(self) -> str:
        return f"the approval by {self.who} in comment {self.comment} does not count: {self.why}"


class VerifiedComments(NamedTuple):
    """The comments of a pull request, sorted by whether they count."""

    consents: tuple[CommentApproval, ...] = ()
    refusals: tuple[Refusal, ...] = ()


class _CommentRefusedError(Exception):
    pass


class CommentVerifier:
    """Verifies the comments of one pull request, at its head commit and for its newest runs.

    `runs` are the gate's runs for it, newest first, at least one.
    """

    def __init__(
        self, review: Review, files: ReportFiles, change: PullRequestState, runs: Sequence[GateRun], *, allow_self: bool
    ) -> None:
        self._review = review
        self._files = files
        self._change = change
        self._runs = runs
        self._allow_self = allow_self
        self._permissions: dict[int, Permission] = {}
        self._contents: dict[int, bytes] = {}
        self._reports: Sequence[ReportArtifact] | None = None
        self._contributors: Contributors | None = None

    def verify_comments(self) -> VerifiedComments:
        """Every comment with a command, oldest first. Raises Unreachable if a lookup fails."""
        found = [
            (comment, command)
            for comment in self._review.comments_since(self._runs[0].started_at)
            if (command := parse_command(comment.body)) is not None
        ]
        consents, refusals = [], []
        for comment, command in found[-MOST_COMMANDS:]:
            try:
                consents.append(self._verify_comment(comment, command))
            except _CommentRefusedError as why:
                refusals.append(self._refusal(comment, str(why)))
        return VerifiedComments(tuple(consents), tuple(refusals))

    def latest_report(self) -> bytes | None:
        """The last report of the newest run; None if it has reached no verdict."""
        reports = self._list_reports()
        return self._load_content(reports[0]) if reports else None

    def _refusal(self, comment: PullRequestComment, why: str) -> Refusal:
        author = comment.author
        permission = self._permissions.get(author.id) if author is not None else None
        is_known = permission is not None and permission.may_write
        return Refusal(comment.id, author.login if author is not None else "unknown", why, is_known)

    def _verify_comment(self, comment: PullRequestComment, command: ApproveCommand | str) -> CommentApproval:
        """The comment's approval; raises _CommentRefusedError with the first reason against it."""
        author = comment.author
        if author is None or not comment.is_person:
            raise _CommentRefusedError(BOT)
        permission = self._permission(author)
        if comment.created_at != comment.updated_at:
            raise _CommentRefusedError(EDITED)
        if comment.created_at <= self._runs[0].started_at:
            raise _CommentRefusedError(OLDER)
        if isinstance(command, str):
            raise _CommentRefusedError(command)
        is_own = self._is_own(author)
        until, report = _expiry_date(comment, command), self._find_report_before(comment)
        origin = Provenance(
            "comment",
            self._change.number,
            comment.id,
            comment.url,
            self._change.head_sha,
            permission.role,
            self_approved=is_own,
        )
        return CommentApproval(command.scenario, until, command.reason, author.login, origin, report)

    def _permission(self, author: Account) -> Permission:
        if author.id not in self._permissions:
            if len(self._permissions) == MOST_PEOPLE:
                raise _CommentRefusedError(MANY)
            self._permissions[author.id] = self._review.permission(author)
        permission = self._permissions[author.id]
        if not permission.may_write:
            raise _CommentRefusedError(f"{author.login} has no write access to this repository ({permission.role})")
        if permission.account != author.id:
            raise _CommentRefusedError(OWN_ACCOUNT)
        return permission

    def _is_own(self, author: Account) -> bool:
        """Whether the author contributed to the change.

        Raises _CommentRefusedError if they did and may not approve it, or if that is unknown.
        """
        if self._contributors is None:
            self._contributors = self._review.contributors()
        opened = self._change.author
        pushed = {run.started_by for run in self._runs}
        is_own = author.id in {*self._contributors.account_ids, *pushed, opened.id if opened is not None else None}
        if is_own and not self._allow_self:
            raise _CommentRefusedError(OWN)
        if self._contributors.unknown and not self._allow_self:
            commit = self._contributors.unknown[:SHORT_SHA]
            raise _CommentRefusedError(
                f"commit {commit} has an author without a GitHub account, who may be {author.login}"
            )
        return is_own

    def _find_report_before(self, comment: PullRequestComment) -> bytes:
        """What the author could have seen: the newest report older than the comment."""
        before = [report for report in self._list_reports() if report.created_at < comment.created_at]
        if not before:
            raise _CommentRefusedError(UNJUDGED)
        return self._load_content(before[0])

    def _list_reports(self) -> Sequence[ReportArtifact]:
        if self._reports is None:
            self._reports = self._review.reports(self._runs[0].run)
        return self._reports

    def _load_content(self, report: ReportArtifact) -> bytes:
        if report.id not in self._contents:
            path = self._review.fetch(report)
            try:
                self._contents[report.id] = self._files.unpack(path)
            except InvalidInput as error:
                reason = error.problems[0].message
                raise Unreachable(f"the report of run {self._runs[0].run.id} is refused: {reason}") from None
        return self._contents[report.id]


def _expiry_date(comment: PullRequestComment, command: ApproveCommand) -> date:
    created = comment.created_at.date()
    if command.until is None:
        return created + timedelta(days=DEFAULT_DAYS)
    if command.until > created + timedelta(days=MOST_DAYS):
        raise _CommentRefusedError(f"an approval by comment lasts at most {MOST_DAYS} days: use the approvals file")
    return command.until


MAX_LISTED = 20
UNCOUNTED = "approvals in comments do not count"


def with_consents(
    request: JudgeRequest, review: Review, files: ReportFiles, step: StepOutput, *, allow_self: bool
) -> JudgeRequest:
    """Adds the comment approvals of its pull request to the request; notes what does not count.

    Comments of people without write access appear in the log only. If the lookup fails, nothing is approved.
    """
    try:
        found = _verify_comments(request, review, files, allow_self=allow_self)
    except Unreachable as trouble:
        found = f"{UNCOUNTED}: {trouble}"
    if isinstance(found, str):
        return replace(request, notes=[*request.notes, found])
    for refusal in found.refusals[:MAX_LISTED]:
        step.log(str(refusal))
    messages = [str(refusal) for refusal in found.refusals if refusal.is_known]
    approvals = replace(request.approvals, consents=found.consents)
    return replace(request, approvals=approvals, notes=[*request.notes, *messages[:MAX_LISTED]])


def _verify_comments(
    request: JudgeRequest, review: Review, files: ReportFiles, *, allow_self: bool
) -> VerifiedComments | str:
    """The verified comments, or a message if this run is not the newest one of the pull request."""
    change = review.change()
    if change.head_sha != request.subject.commit:
        return f"{UNCOUNTED}: the pull request has a newer commit"
    runs = review.gate_runs(change)
    if not runs or str(runs[0].run.id) != request.subject.run_id:
        return f"{UNCOUNTED}: there is a newer run of this gate"
    return CommentVerifier(review, files, change, runs, allow_self=allow_self).verify_comments()
