"""Approvals: a person lets a failure pass that is known, within bounds and until a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.records import dataclass

if TYPE_CHECKING:
    from datetime import date

    from evalgate.errors import Location
    from evalgate.models.approvals.provenance import Provenance
    from evalgate.models.comparison.comparison import ScenarioKey

FILE = "evalgate-approvals.yaml"
"""Where approvals are kept, in the repository's root."""
MOST_BYTES = 256_000
"""The largest file of approvals that is read."""

ApprovalStatus = Literal["active", "proposed", "void", "expired", "unused"]


class ApprovalFile(NamedTuple):
    """A file of approvals as it was found: its path, for messages, and its bytes."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Approval:
    """One approval as written. What is None does not narrow it; `until` is the last day on which it holds.

    `least_score` is the lowest score that is approved; `traces` are the sha256 of the recordings that may
    fail, empty for any. `checks` are all that may fail of the whole scenario, None for any; `provenance` is
    known where it was no file that said it.
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

    @property
    def scope(self) -> tuple[object, ...]:
        """All that it says, but not where: what two files have in common."""
        return (
            *(self.suite, self.scenario, self.variant, self.assertion, self.change, self.least_score),
            *(self.reason, self.who, self.until, self.traces, self.checks),
        )


@dataclass(frozen=True, slots=True)
class Approvals:
    """Those that count in a run, and those that only its pull request proposes."""

    counting: tuple[Approval, ...] = ()
    proposed: tuple[Approval, ...] = ()


class Ruling(NamedTuple):
    """What becomes of one approval in a run. `message` says why; `days_left` counts from today."""

    approval: Approval
    status: ApprovalStatus
    message: str
    days_left: int


class Rulings(NamedTuple):
    """Every approval of a run, as written, and the scenarios that may fail by them."""

    told: tuple[Ruling, ...] = ()
    approved: frozenset[ScenarioKey] = frozenset()
