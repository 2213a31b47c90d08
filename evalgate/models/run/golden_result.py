"""What judging goldens found: of one trial, and of the scenario over its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.run.evaluation import Issue, Level, RegressionStatus, TurnResult
    from evalgate.models.run.golden import Golden

    Scores = Mapping[str, float | None]
    TurnScores = Mapping[str, Sequence[float | None]]

DIMENSION_TYPE = "golden"
"""The type of the assertions that a golden's dimensions are; no suite can write one."""


def is_unjudged_dimension(type_: str, outcome: str) -> bool:
    """Whether an assertion is a dimension with nothing to judge: that is no failure of the agent."""
    return type_ == DIMENSION_TYPE and outcome == "not_evaluable"


@dataclass(slots=True)
class GoldenTrial:
    """One trace beside its golden. Turns are those of both, laid side by side.

    `numbers` are those of the golden's turns among them, from 0; None for an extra one. `missing` are the
    places of those that only the golden has.
    """

    dimensions: Scores
    turns: Sequence[TurnResult]
    issues: Sequence[Issue]
    numbers: Sequence[int | None]
    missing: Sequence[int] = ()


@dataclass(slots=True)
class GoldenBefore:
    """How a golden stood in the baseline."""

    score: float | None
    dimensions: Scores
    turns: TurnScores


@dataclass(slots=True)
class GoldenResult:
    """A golden over its trials: a dimension is the mean of those in which it could be judged.

    `turns` has the mean scores of the golden's turns, by dimension. Each issue is told once, however many
    trials have it. `before` is known once a run has been compared, `regression_status` where it was scored.
    """

    golden: Golden
    dimensions: Scores
    level: Level | None
    issues: Sequence[Issue] = ()
    turns: TurnScores = field(default_factory=dict)
    regression_status: RegressionStatus | None = None
    before: GoldenBefore | None = None

    @property
    def critical_issues(self) -> int:
        """How many issues are critical."""
        return sum(issue.severity == "critical" for issue in self.issues)
