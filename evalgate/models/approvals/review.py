"""Data of GitHub for approvals by comment: the pull request, its people, comments and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import date, datetime

    from evalgate.models.approvals.approval import Provenance


class Account(NamedTuple):
    """An account on GitHub. A login may be reused by another account, an id is not."""

    id: int
    login: str


class PullRequestState(NamedTuple):
    """The current state of a pull request. Names of branches are untrusted."""

    number: int
    head_sha: str
    head_ref: str
    head_repository_id: int | None  # None if the fork was deleted
    head_owner: str
    author: Account | None
    is_open: bool


class Contributors(NamedTuple):
    """The authors and committers of a pull request; `unknown` is a commit whose author is unknown."""

    account_ids: frozenset[int]
    unknown: str | None = None


class GateRun(NamedTuple):
    """A run of the gate for a pull request, and the account whose push or opening started it."""

    run: TriggeringRun
    started_at: datetime
    started_by: int | None


class ReportArtifact(NamedTuple):
    """A report that a run uploaded; each later attempt uploads another."""

    id: int
    created_at: datetime


class PullRequestComment(NamedTuple):
    """A comment on a pull request. `author` is None if the account was deleted."""

    id: int
    url: str
    author: Account | None
    is_person: bool  # neither a bot nor an app that posts for a user
    body: str
    created_at: datetime
    updated_at: datetime


class Permission(NamedTuple):
    """What an account may do in the repository; `role` is GitHub's name of its role."""

    account: int | None
    may_write: bool
    role: str


class CommentApproval(Struct, frozen=True):
    """One `/evalgate approve`. `scenario` is None for all that failed; `until` is the last valid day.

    `report` is the results document that the person saw; it contains what failed, and how badly.
    """

    scenario: str | None
    until: date
    reason: str
    who: str
    provenance: Provenance
    report: bytes

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"the approval by {self.who} in comment {self.provenance.comment_id}"


class TriggeringRun(Struct, frozen=True):
    """A run and its commit. Names of branches and owners are untrusted.

    `head_repository_id` is None, and `head_repository` empty, if the fork was deleted.
    """

    id: int
    event: str
    head_repository_id: int | None
    head_repository: str  # owner/name
    head_branch: str
    head_sha: str
    is_same_repository: bool  # the commit is in this repository, not in a fork
    attempt: int = 1
    failure: str = ""  # how it ended, if it failed, was ended from outside or never began

    @property
    def head_owner(self) -> str:
        """The owner of the repository that has the commit."""
        return self.head_repository.partition("/")[0]
