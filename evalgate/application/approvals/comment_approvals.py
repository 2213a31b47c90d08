"""Verifies comments that approve failures against GitHub's own data, so that forged ones do not count.

An approval counts for one commit. The comment must not be edited, and its author must have write access and
no part in the change. It must be newer than the arrival of the commit and the gate's judgement of it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import InvalidInput, Unreachable
from evalgate.models.approvals.comment_approval import CommentApproval
from evalgate.models.approvals.provenance import Provenance
from evalgate.suite.approve_command import ApproveCommand, read_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from evalgate.models.approvals.review import (
        Account,
        Contributors,
        GateRun,
        LeftReport,
        Permission,
        PullRequestComment,
        ReviewedChange,
    )
    from evalgate.ports import ReportFiles
    from evalgate.ports.review import Review

LASTS_DAYS = 14
"""Validity of an approval that names no last day."""
MOST_DAYS = 90
MOST_COMMANDS = 100
MOST_PEOPLE = 20
"""How many people are looked up on GitHub: anybody may comment, as often as they like."""
SHORT_SHA = 7
BOT = "a bot or an app wrote it, and only a person approves"
EDITED = "it was edited: write a new comment"
OLDER = "it is older than the newest push: every push voids what was approved before"
UNJUDGED = "the gate had not judged this commit then"
OWN = "who has a part in the change does not approve it (`allow-self-approval` lets them)"
MANY = "too many people comment here for all to be looked up"
OWN_ACCOUNT = "the account is gone, or another one has its name by now"


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


class _Refused(Exception):
    pass


class CommentVerifier:
    """Verifies the comments of one pull request, at its head commit and for its newest runs.

    `runs` are the gate's runs for it, newest first, at least one.
    """

    def __init__(
        self,
        review: Review,
        files: ReportFiles,
        change: ReviewedChange,
        runs: Sequence[GateRun],
        *,
        allow_self: bool,
    ) -> None:
        self._review = review
        self._files = files
        self._change = change
        self._runs = runs
        self._allow_self = allow_self
        self._permissions: dict[int, Permission] = {}
        self._contents: dict[int, bytes] = {}
        self._reports: Sequence[LeftReport] | None = None
        self._makers: Contributors | None = None

    def vetted(self) -> VerifiedComments:
        """Every comment with a command, oldest first. Raises Unreachable if a lookup fails."""
        found = [
            (remark, command)
            for remark in self._review.remarks(self._runs[0].begun_at)
            if (command := read_command(remark.body)) is not None
        ]
        consents, refusals = [], []
        for remark, command in found[-MOST_COMMANDS:]:
            try:
                consents.append(self._consent(remark, command))
            except _Refused as why:
                refusals.append(self._refusal(remark, str(why)))
        return VerifiedComments(tuple(consents), tuple(refusals))

    def latest_report(self) -> bytes | None:
        """The last report of the newest run; None if it has reached no verdict."""
        reports = self._left()
        return self._content(reports[0]) if reports else None

    def _refusal(self, remark: PullRequestComment, why: str) -> Refusal:
        author = remark.author
        permission = self._permissions.get(author.id) if author is not None else None
        is_known = permission is not None and permission.may_write
        return Refusal(remark.id, author.login if author is not None else "nobody", why, is_known)

    def _consent(self, remark: PullRequestComment, command: ApproveCommand | str) -> CommentApproval:
        """The comment's approval; raises _CommentRefusedError with the first reason against it."""
        author = remark.author
        if author is None or not remark.is_person:
            raise _Refused(BOT)
        permission = self._permission(author)
        if remark.created_at != remark.updated_at:
            raise _Refused(EDITED)
        if remark.created_at <= self._runs[0].begun_at:
            raise _Refused(OLDER)
        if isinstance(command, str):
            raise _Refused(command)
        is_own = self._is_own(author)
        until, report = _until(remark, command), self._report_before(remark)
        origin = Provenance(
            "comment",
            self._change.number,
            remark.id,
            remark.url,
            self._change.head_sha,
            permission.role,
            self_approved=is_own,
        )
        return CommentApproval(command.scenario, until, command.reason, author.login, origin, report)

    def _permission(self, author: Account) -> Permission:
        if author.id not in self._permissions:
            if len(self._permissions) == MOST_PEOPLE:
                raise _Refused(MANY)
            self._permissions[author.id] = self._review.permission(author)
        permission = self._permissions[author.id]
        if not permission.may_write:
            raise _Refused(f"{author.login} may not write to this repository ({permission.role})")
        if permission.account != author.id:
            raise _Refused(OWN_ACCOUNT)
        return permission

    def _is_own(self, author: Account) -> bool:
        """Whether the author contributed to the change.

        Raises _CommentRefusedError if they did and may not approve it, or if that is unknown.
        """
        if self._makers is None:
            self._makers = self._review.makers()
        opened = self._change.author
        pushed = {run.begun_by for run in self._runs}
        is_own = author.id in {*self._makers.known, *pushed, opened.id if opened is not None else None}
        if is_own and not self._allow_self:
            raise _Refused(OWN)
        if self._makers.unknown and not self._allow_self:
            commit = self._makers.unknown[:SHORT_SHA]
            raise _Refused(
                f"GitHub does not know who made commit {commit}, so it may be {author.login}'s own"
            )
        return is_own

    def _report_before(self, remark: PullRequestComment) -> bytes:
        """What the author could have seen: the newest report older than the comment."""
        before = [report for report in self._left() if report.made_at < remark.created_at]
        if not before:
            raise _Refused(UNJUDGED)
        return self._content(before[0])

    def _left(self) -> Sequence[LeftReport]:
        if self._reports is None:
            self._reports = self._review.reports(self._runs[0].run)
        return self._reports

    def _content(self, report: LeftReport) -> bytes:
        if report.id not in self._contents:
            path = self._review.fetch(report)
            try:
                self._contents[report.id] = self._files.unpack(path)
            except InvalidInput as mistake:
                reason = mistake.problems[0].message
                raise Unreachable(f"the report of run {self._runs[0].run.id} is refused: {reason}") from None
        return self._contents[report.id]


def _until(remark: PullRequestComment, command: ApproveCommand) -> date:
    written = remark.created_at.date()
    if command.until is None:
        return written + timedelta(days=LASTS_DAYS)
    if command.until > written + timedelta(days=MOST_DAYS):
        raise _Refused(f"a comment approves for {MOST_DAYS} days at most: use the file of approvals")
    return command.until
