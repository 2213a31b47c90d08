"""The pull request in which somebody approves a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.models.approvals.review import (
        Account,
        Contributors,
        GateRun,
        LeftReport,
        Permission,
        PullRequestComment,
        ReviewedChange,
    )
    from evalgate.models.approvals.triggering_run import TriggeringRun


class Review(Protocol):
    """One pull request, asked of GitHub anew: nothing that a comment or an event says of it is believed.

    Every method may raise Unreachable.
    """

    def change(self) -> ReviewedChange:
        """What it proposes now; raises NotFound where there is no such pull request."""

    def makers(self) -> Contributors:
        """Who made its commits."""

    def twins(self, change: ReviewedChange) -> Sequence[int]:
        """Other pull requests, also closed ones, at the very same commit: a run may be of any of them."""

    def gate_runs(self, change: ReviewedChange) -> Sequence[GateRun]:
        """Runs of the gate for it, the newest first: every push begins one."""

    def remark(self, number: int) -> PullRequestComment | None:
        """One comment as it stands now; None where it is gone or another pull request's."""

    def remarks(self, since: datetime) -> Sequence[PullRequestComment]:
        """Comments that were written or edited since; raises Unreachable for more than are read."""

    def permission(self, account: Account) -> Permission:
        """What somebody may do in the repository."""

    def reports(self, run: TriggeringRun) -> Sequence[LeftReport]:
        """Reports that a run left, one an attempt, the newest first."""

    def fetch(self, report: LeftReport) -> str:
        """Downloads one that was listed; the zip's path.

        Raises Unreachable, with the reason, for one that can't be had.
        """
