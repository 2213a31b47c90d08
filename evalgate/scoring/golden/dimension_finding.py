"""What one dimension is worth, turn by turn, and what was found wrong on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.scoring.golden.rules import Due
    from evalgate.scoring.golden.turns import TurnPair

Source = Literal["formula", "recorded", "assertions", "none"]


class DimensionIssue(NamedTuple):
    """Something wrong in one step, by its number from 0."""

    step: int
    message: str
    evidence: str | None = None


@dataclass(slots=True)
class StepTally:
    """Demands met, of all there were, in one step."""

    met: int = 0
    of: int = 0

    def count(self, *, met: bool) -> None:
        """One more."""
        self.met += met
        self.of += 1

    @property
    def share(self) -> float | None:
        """What part was met; None where there was nothing to meet."""
        return self.met / self.of if self.of else None


@dataclass(slots=True)
class DimensionFinding:
    """A score for each step, None where there is nothing to judge; `lacking` says why all are None."""

    steps: list[float | None]
    findings: list[DimensionIssue] = field(default_factory=list)
    lacking: str = ""


def step_of(beside: Sequence[TurnPair], due: Due) -> int | None:
    """The step of the turn in which something is due; None where any turn will do."""
    if due.turn is None:
        return None
    return next((at for at, each in enumerate(beside) if each.step.golden == due.turn), last_step(beside))


def last_step(beside: Sequence[TurnPair]) -> int:
    """The step in which what never came is missed: the golden's last turn."""
    return max((at for at, each in enumerate(beside) if not each.is_extra), default=len(beside) - 1)
