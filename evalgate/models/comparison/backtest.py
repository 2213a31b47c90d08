"""Results of a backtest: past runs judged by today's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import ScenarioKey
    from evalgate.models.comparison.decision import Reason

SCHEMA = "evalgate.backtest/1"


class PastRun(Struct, frozen=True):
    """One past run: the verdict it had, and the verdict by today's rules.

    `compared_with` is the run before it. `incomplete` counts traces that it did not keep; a run with any is
    not judged. `unknown` counts today's scenarios that the run does not have.
    """

    path: str
    created_at: str
    commit: str | None
    verdict_then: str
    verdict_now: str
    reasons: Sequence[Reason]
    scenarios: int
    unknown: int = 0
    incomplete: int = 0
    compared_with: str | None = None

    @property
    def is_blocked(self) -> bool:
        """Whether today's rules would have failed the gate."""
        return self.verdict_now == "fail"


class Backtest(Struct, frozen=True):
    """All past runs, oldest first, and the number of runs that each scenario would have blocked."""

    runs: Sequence[PastRun]
    scenarios: Sequence[tuple[ScenarioKey, int]] = field(default_factory=tuple)

    @property
    def blocked(self) -> int:
        """Number of runs that would have been blocked."""
        return sum(run.is_blocked for run in self.runs)

    @property
    def newly_blocked(self) -> int:
        """Number of those that passed at the time."""
        return sum(run.is_blocked and run.verdict_then == "pass" for run in self.runs)

    @property
    def released(self) -> int:
        """Number of runs that failed at the time and would pass today."""
        return sum(run.verdict_then == "fail" and run.verdict_now == "pass" for run in self.runs)

    @property
    def unjudged(self) -> int:
        """Number of runs that can't be judged."""
        return sum(run.verdict_now == "cannot_judge" for run in self.runs)
