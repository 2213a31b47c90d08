"""What judging goldens found: of one trial, and of the scenario over its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.evaluation import Issue, Level, RegressionStatus, TurnResult

DIMENSION_TYPE = "golden"
"""The type of the assertions that a golden's dimensions are; no suite can write one."""


class GoldenName(NamedTuple):
    """Which golden a scenario is."""

    id: str
    version: int = 1
    title: str = ""


@dataclass(slots=True)
class GoldenTrial:
    """One trace beside its golden. Turns are those of both, laid side by side.

    `numbers` are those of the golden's turns among them, from 0; None for an extra one.
    """

    dimensions: Mapping[str, float | None]
    turns: Sequence[TurnResult]
    issues: Sequence[Issue]
    numbers: Sequence[int | None]


@dataclass(slots=True)
class GoldenResult:
    """A golden over its trials: a dimension is the mean of those in which it could be judged.

    Each issue is told once, however many trials have it. What it was before is known once a run has been
    compared; a regression status where it was scored, too.
    """

    name: GoldenName
    dimensions: Mapping[str, float | None]
    level: Level | None
    issues: Sequence[Issue] = field(default_factory=tuple)
    turns: Mapping[str, Sequence[float | None]] = field(default_factory=dict)  # of the golden, by dimension
    regression_status: RegressionStatus | None = None
    previous_score: float | None = None
    previous_dimensions: Mapping[str, float | None] = field(default_factory=dict)
    previous_turns: Mapping[str, Sequence[float | None]] = field(default_factory=dict)

    @property
    def critical_issues(self) -> int:
        """How many issues are critical."""
        return sum(issue.severity == "critical" for issue in self.issues)
