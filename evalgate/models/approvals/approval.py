"""Approvals: a person accepts a known failure, within limits and until a date."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import date, datetime

    from evalgate.errors import Location
    from evalgate.models.comparison.comparison import ScenarioKey

ApprovalOrigin = Literal["file", "comment", "shell"]

APPROVAL_ORIGINS: tuple[ApprovalOrigin, ...] = ("file", "comment", "shell")


class Provenance(NamedTuple):
    """Where an approval was given. `permission` is the person's permission in the repository, from GitHub.

    `repository` is the only one that an approval in a store is for; None if it names none.
    """

    source: ApprovalOrigin
    pull_request: int | None = None
    comment_id: int | None = None
    comment_url: str | None = None
    head_commit: str | None = None
    permission: str | None = None
    self_approved: bool = False
    repository: str | None = None


FILE = "evalgate-approvals.yaml"
"""The approvals file, in the repository's root."""
MAX_FILE_BYTES = 256_000

ApprovalStatus = Literal["active", "proposed", "void", "expired", "unused"]


class ApprovalFile(NamedTuple):
    """An unparsed file of approvals: its path, for messages, and its bytes."""

    path: str
    content: bytes


class Approval(Struct, frozen=True):
    """One approval as written. A field that is None does not restrict it; `until` is its last valid day.

    `least_score` is the lowest approved score; `traces` are the sha256 of the traces that may fail, empty for
    any. `covers` are the digests of the checks that may fail, whatever their names; None in approvals of earlier
    versions, where `checks` are the names that may fail, None for any. `provenance` is None for an approval from a
    file.
    """

    suite: str
    scenario: str
    variant: str | None
    assertion: str | None
    change: str | None
    least_score: float | None
    reason: str
    who: str
    until: date
    traces: frozenset[str]
    location: Location | None
    checks: frozenset[str] | None = None
    provenance: Provenance | None = None
    covers: frozenset[str] | None = None

    @property
    def scope(self) -> tuple[object, ...]:
        """Everything but the location and provenance, to compare approvals of two files."""
        return (
            *(self.suite, self.scenario, self.variant, self.assertion, self.change, self.least_score),
            *(self.reason, self.who, self.until, self.traces, self.checks, self.covers),
        )


class IdentifiedCheck(NamedTuple):
    """A check by its name, and by what it demands; `digest` is None in documents of earlier versions."""

    name: str
    digest: str | None
    type: str = ""


BaseChecks = Callable[["ScenarioKey"], Collection[IdentifiedCheck] | None]
"""The checks of a scenario in the suites of the base; None if they are not known."""


class Approvals(Struct, frozen=True):
    """The approvals that take effect in a run, and those that only its pull request proposes."""

    effective: tuple[Approval, ...] = ()
    proposed: tuple[Approval, ...] = ()


class ApprovalRuling(NamedTuple):
    """The status of one approval in a run; `message` gives the reason, `days_left` counts from today."""

    approval: Approval
    status: ApprovalStatus
    message: str
    days_left: int


class ApprovalRulings(NamedTuple):
    """A ruling for every approval of a run, and the scenarios whose failure they approve."""

    rulings: tuple[ApprovalRuling, ...] = ()
    approved: frozenset[ScenarioKey] = frozenset()


class StoredApproval(Struct, frozen=True):
    """One approval; `id` is empty and `recorded_at` None until it is stored."""

    id: str
    approval: Approval
    provenance: Provenance
    recorded_at: datetime | None = None
    withdrawn_at: datetime | None = None
