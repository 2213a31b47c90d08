"""Results of judging goldens: of one trial, and of a scenario over its trials."""

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
"""The type of the assertions made from a golden's dimensions; suites can't use it."""


def is_unjudged_dimension(type_: str, outcome: str) -> bool:
    """Whether an assertion is a dimension with nothing to judge, which is not a failure of the agent."""
    return type_ == DIMENSION_TYPE and outcome == "not_evaluable"


@dataclass(slots=True)
class GoldenTrial:
    """One trace compared with its golden. `turns` are the aligned turns of both.

    `numbers` has for each the number of the golden's turn, from 0; None for an extra turn of the trace.
    `missing` are the indexes of turns that only the golden has.
    """

    dimensions: Scores
    turns: Sequence[TurnResult]
    issues: Sequence[Issue]
    numbers: Sequence[int | None]
    missing: Sequence[int] = ()


@dataclass(slots=True)
class BaselineGolden:
    """The result of a golden in the baseline."""

    score: float | None
    dimensions: Scores
    turns: TurnScores


@dataclass(slots=True)
class GoldenResult:
    """A golden over its trials: a dimension is the mean over those in which it could be judged.

    `turns` has the mean scores of the golden's turns, by dimension. Each issue is listed once, even if many
    trials have it. `baseline` is set once the run has been compared, `regression_status` if it was scored.
    """

    golden: Golden
    dimensions: Scores
    level: Level | None
    issues: Sequence[Issue] = ()
    turns: TurnScores = field(default_factory=dict)
    regression_status: RegressionStatus | None = None
    baseline: BaselineGolden | None = None

    @property
    def critical_issues(self) -> int:
        """Number of critical issues."""
        return sum(issue.severity == "critical" for issue in self.issues)
