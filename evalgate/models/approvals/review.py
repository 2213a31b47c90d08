"""A pull request as approvals see it: whose change it is, when it was judged, what people said below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.approvals.triggering_run import TriggeringRun


class Account(NamedTuple):
    """Somebody on GitHub. Names are given anew, ids are not."""

    id: int
    login: str


class ReviewedChange(NamedTuple):
    """What a pull request proposes now. Names of branches are a stranger's choice."""

    number: int
    head_sha: str
    head_ref: str
    head_repository_id: int | None  # None where the fork was deleted meanwhile
    head_owner: str
    author: Account | None
    is_open: bool


class Contributors(NamedTuple):
    """Who wrote or committed the commits of a change; `unknown` names one whose maker can't be told."""

    known: frozenset[int]
    unknown: str | None = None


class GateRun(NamedTuple):
    """A run of the gate for a pull request: begun by a push, or by whoever opened it."""

    run: TriggeringRun
    begun_at: datetime
    begun_by: int | None


class LeftReport(NamedTuple):
    """A report that a run left; an attempt that came later leaves another."""

    id: int
    made_at: datetime


class PullRequestComment(NamedTuple):
    """A comment of a pull request. `author` is None where the account is gone."""

    id: int
    url: str
    author: Account | None
    is_person: bool  # neither a bot nor an app that speaks for somebody
    body: str
    created_at: datetime
    updated_at: datetime


class Permission(NamedTuple):
    """What an account may do in the repository: `role` in GitHub's word."""

    account: int | None
    may_write: bool
    role: str
