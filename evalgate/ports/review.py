"""The pull request in which a person approves a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from evalgate.models.approvals.review import (
        Account,
        Contributors,
        GateRun,
        Permission,
        PullRequestComment,
        PullRequestState,
        ReportArtifact,
        TriggeringRun,
    )


class Review(Protocol):
    """One pull request, always read from GitHub, as comments and events are not trusted; may raise Unreachable."""

    def change(self) -> PullRequestState:
        """Its current state; raises NotFound if there is no such pull request."""

    def contributors(self) -> Contributors:
        """The authors of its commits."""

    def other_pull_requests(self, change: PullRequestState) -> Sequence[int]:
        """Other pull requests with the same head commit, also closed ones: a run may belong to any."""

    def gate_runs(self, change: PullRequestState) -> Sequence[GateRun]:
        """Runs of the gate for it, newest first: every push starts one."""

    def comment(self, number: int) -> PullRequestComment | None:
        """One comment in its current state; None if it is deleted or on another pull request."""

    def comments_since(self, since: datetime) -> Sequence[PullRequestComment]:
        """Comments created or edited since; raises Unreachable if there are more than are read."""

    def permission(self, account: Account) -> Permission:
        """The account's permission in the repository."""

    def reports(self, run: TriggeringRun) -> Sequence[ReportArtifact]:
        """Reports that a run uploaded, one per attempt, newest first."""

    def fetch(self, report: ReportArtifact) -> str:
        """Downloads a listed report and returns the zip's path; raises Unreachable, with the reason."""
