"""Golden conversations: how an agent should answer, turn by turn, and what it should do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from msgspec import Meta, Struct, field

from evalgate.models.trace.pricing import Amount, Tokens  # noqa: TC001  (needed for decoding)

if TYPE_CHECKING:
    from datetime import datetime

Index = Annotated[int, Meta(ge=0, le=2**53)]
Score = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1 + 1e-9)]
"""From 0 to 1, but for rounding; 1 and 1.0 are written as they are."""
Scores = Mapping[str, Score | None]
TurnScores = Mapping[str, Sequence[float | None]]

IssueCategory = Literal["identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness"]
Severity = Literal["info", "warning", "error", "critical"]
Level = Literal["excellent", "good", "fair", "poor", "failing"]
RegressionStatus = Literal["pass", "fail", "improvement", "degradation"]

CATEGORIES: tuple[IssueCategory, ...] = get_args(IssueCategory)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
LEVELS: tuple[Level, ...] = get_args(Level)
REGRESSION_STATUSES: tuple[RegressionStatus, ...] = get_args(RegressionStatus)


class Issue(NamedTuple):
    """One issue. `turn` counts from 0 and is None for an issue of the whole conversation."""

    category: IssueCategory
    severity: Severity
    message: str
    evidence: str | None = None
    turn: Index | None = None


class TurnResult(Struct, frozen=True, array_like=True):
    """One turn of a trace and of its golden; unknown values are None.

    A missing turn has no `actual_response`, an extra one no `golden_response`. A dimension with nothing to
    judge scores None. Memories and tool results are JSON values.
    """

    user_message: str | None
    actual_response: str | None
    golden_response: str | None
    scores: Scores
    latency_ms: Amount | None = None
    tokens: Tokens | None = None
    cost: Amount | None = None
    retrieved_memories: tuple[Any, ...] = ()
    tools_invoked: tuple[str, ...] = ()
    tool_results: tuple[Any, ...] = ()
    issues: tuple[Issue, ...] = ()
    evidence: tuple[str, ...] = ()


class EvaluationStatistics(Struct, frozen=True):
    """Statistics of one conversation; an amount with an unknown part is None.

    `pass_rate` is the share of its turns that reach the passing score, None if no turn could be scored.
    """

    total_turns: int
    avg_latency_ms: float | None = None
    total_tokens: int | None = None
    total_cost: float | None = None
    issue_count: int = 0
    critical_issue_count: int = 0
    pass_rate: float | None = None


class GoldenEvaluation(Struct, frozen=True):
    """One trace judged by one version of a golden.

    `id` is empty until it is stored, unless its creator set one. `run_id` is None outside a run;
    `trace_sha256` is the fingerprint of the trace, `conversation_id` that of the judged conversation, which
    feedback may name. `regression_status` is None if nothing could be scored.
    Amounts in USD.
    """

    id: str
    golden_id: str
    golden_version: int
    suite: str
    overall_score: float | None
    level: Level | None
    dimensions: Mapping[str, float | None]
    statistics: EvaluationStatistics
    evaluated_by: str
    evaluated_at: datetime
    run_id: str | None = None
    trial: int = 0
    trace_id: str | None = None
    trace_sha256: str | None = None
    turns: tuple[TurnResult, ...] = ()
    issues: tuple[Issue, ...] = ()
    regression_status: RegressionStatus | None = None
    previous_score: float | None = None
    conversation_id: str | None = None


# Known values of open lists: other values are allowed, and these are used for suggestions.
INTENTS: tuple[str, ...] = (
    *("information_retrieval", "task_execution", "clarification", "analysis", "creative", "debugging"),
    *("learning", "relationship_building", "problem_solving", "navigation", "other"),
)
STANCES: tuple[str, ...] = (
    *("helpful", "cautious", "confident", "creative", "analytical", "friendly", "formal", "exploratory"),
    *("supportive", "directive", "reflective"),
)
MEMORY_RECALLS: tuple[str, ...] = ("none", "episodic", "semantic", "relational", "commitment")
TOOL_USAGES: tuple[str, ...] = (
    *("not_applicable", "correct_invocation", "correct_interpretation", "incorrect_invocation"),
    *("incorrect_interpretation", "missed_opportunity", "hallucinated_tool"),
)
REFUSALS: tuple[str, ...] = (
    *("not_applicable", "correct_refusal", "correct_allowance", "inappropriate_refusal"),
    "inappropriate_allowance",
)


class Golden(Struct, frozen=True):
    """One golden conversation. `user_messages` and `golden_responses` are its turns, in parallel.

    `version` counts its updates from 1. The times are None until a store has set them.
    """

    id: str
    title: str = ""
    description: str = ""
    conversation_id: str | None = None
    intent: str = "other"
    primary_stance: str = "helpful"
    secondary_stances: tuple[str, ...] = ()
    required_memory_recall: tuple[str, ...] = ()
    required_tool_usage: tuple[str, ...] = ()
    required_refusal: tuple[str, ...] = ()
    user_messages: tuple[str, ...] = ()
    golden_responses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    creator: str | None = None
    version: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None


Dimension = Literal[
    "identity_correctness",
    "memory_precision",
    "memory_recall",
    "tool_success_rate",
    "tone_adherence",
    "refusal_correctness",
    "factual_accuracy",
    "response_completeness",
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)


DIMENSION_TYPE = "golden"
"""The type of the assertions made from a golden's dimensions; suites can't use it."""


def is_unjudged_dimension(type_: str, outcome: str) -> bool:
    """Whether an assertion is a dimension with nothing to judge, which is not a failure of the agent."""
    return type_ == DIMENSION_TYPE and outcome == "not_evaluable"


class GoldenTrial(Struct, array_like=True):
    """One trace compared with its golden. `turns` are the aligned turns of both.

    `numbers` has for each the number of the golden's turn, from 0; None for an extra turn of the trace.
    `missing` are the indexes of turns that only the golden has. `conversation_id` is that of the trace.
    """

    dimensions: Scores
    turns: Sequence[TurnResult]
    issues: Sequence[Issue]
    numbers: Sequence[Index | None]
    missing: Sequence[Index] = ()
    conversation_id: str | None = None


class BaselineGolden(Struct):
    """The result of a golden in the baseline."""

    score: float | None
    dimensions: Scores
    turns: TurnScores


class GoldenResult(Struct):
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
