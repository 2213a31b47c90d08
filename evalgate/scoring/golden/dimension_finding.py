"""The score of one dimension, turn by turn, and the problems found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.scoring.golden.rules import Due
    from evalgate.scoring.golden.turns import TurnPair

DimensionSource = Literal["formula", "recorded", "assertions", "none"]


class DimensionIssue(NamedTuple):
    """A problem in one step; steps are numbered from 0."""

    step: int
    message: str
    evidence: str | None = None


class StepTally(Struct):
    """Counts the demands of one step, how many of them were met, and how many were missed for lack of a call."""

    met: int = 0
    total: int = 0
    missed: int = 0

    def count(self, *, met: bool) -> None:
        """Counts one more demand."""
        self.met += met
        self.total += 1

    @property
    def share(self) -> float | None:
        """The share that was met; None if there was nothing to meet."""
        return self.met / self.total if self.total else None

    @property
    def best_share(self) -> float | None:
        """The share if calls that were not recorded met the missed demands."""
        return (self.met + self.missed) / self.total if self.total else None


class EvidenceGap(NamedTuple):
    """Why a dimension lacks evidence. `best_steps` are the best scores that more evidence could give.

    `may_fail` is true if the golden demands something, so that more evidence could lower the score.
    """

    reason: str
    best_steps: list[float | None]
    may_fail: bool


class DimensionFinding(Struct):
    """A score for each step, None if there is nothing to judge; `missing_reason` is why all are None."""

    steps: list[float | None]
    issues: list[DimensionIssue] = field(default_factory=list)
    missing_reason: str = ""
    gap: EvidenceGap | None = None


def find_due_step(turn_pairs: Sequence[TurnPair], due: Due) -> int | None:
    """The step of the turn in which something is due; None if any turn will do."""
    if due.turn is None:
        return None
    return next(
        (index for index, each in enumerate(turn_pairs) if each.step.golden == due.turn), find_last_step(turn_pairs)
    )


def find_last_step(turn_pairs: Sequence[TurnPair]) -> int:
    """The step to which something that never came is charged: the golden's last turn."""
    return max((index for index, each in enumerate(turn_pairs) if not each.is_extra), default=len(turn_pairs) - 1)
