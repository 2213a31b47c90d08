"""Models that read back an entry of exported JSON lines, which evaluation_jsonl writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from evalgate.models.goldens import ExportedEvaluation, Feedback, GoldenSummary, Sentiment
from evalgate.models.run.golden import (
    EvaluationStatistics,
    GoldenEvaluation,
    Issue,
    IssueCategory,
    Level,
    RegressionStatus,
    Severity,
    TurnResult,
)
from evalgate.models.trace.trace import MAX_ID_LENGTH

MAX_TEXT = 1_000_000
MAX_ITEMS = 10_000


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("the time is before the year 1 or after the year 9999") from None


Score = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Name = Annotated[str, Field(max_length=MAX_ID_LENGTH)]
Moment = Annotated[AwareDatetime, AfterValidator(_to_utc)]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Scores = Annotated[dict[Name, Score | None], Field(max_length=MAX_ITEMS)]
Texts = Annotated[list[Text], Field(max_length=MAX_ITEMS)]
Values = Annotated[list[Any], Field(max_length=MAX_ITEMS)]


class _ExportModel(BaseModel):
    """Checks known fields strictly, and ignores fields that later versions add."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class IssueEntry(_ExportModel):
    """One issue; turns count from 1 here."""

    category: IssueCategory
    severity: Severity
    message: Text
    evidence: Text | None = None
    turn: Annotated[int, Field(ge=1)] | None = None

    def to_issue(self) -> Issue:
        """Converts to the record, whose turns count from 0."""
        turn = None if self.turn is None else self.turn - 1
        return Issue(self.category, self.severity, self.message, self.evidence, turn)


Issues = Annotated[list[IssueEntry], Field(max_length=MAX_ITEMS)]


class FeedbackEntry(_ExportModel):
    """Feedback of a person on a conversation."""

    id: Id
    conversation_id: Id
    message_id: Name | None = None
    golden_id: Name | None = None
    user_id: Name | None = None
    rating: Annotated[int, Field(ge=1, le=5)]
    feedback: Sentiment
    comment: Text = ""
    issues: Texts = []
    time: Moment | None = None

    def to_feedback(self) -> Feedback:
        """Converts to the record."""
        fields = {name: value for name, value in self if name not in {"issues", "time"}}
        return Feedback(**fields, issues=tuple(self.issues), created_at=self.time)


class StatisticsEntry(_ExportModel):
    """Statistics of a conversation."""

    total_turns: Count
    avg_latency_ms: Amount | None = None
    total_tokens: Count | None = None
    total_cost_usd: Amount | None = None
    issue_count: Count = 0
    critical_issue_count: Count = 0
    pass_rate: Score | None = None

    def to_statistics(self) -> EvaluationStatistics:
        """Converts to the record."""
        return EvaluationStatistics(*(value for _, value in self))


class ConversationEntry(_ExportModel):
    """Scores, issues and statistics of a whole conversation."""

    id: Name | None = None
    score: Score | None
    level: Level | None
    scores: Scores
    regression_status: RegressionStatus | None = None
    previous_score: Score | None = None
    evaluated_by: Name
    issues: Issues = []
    statistics: StatisticsEntry


class EvaluationEntry(_ExportModel):
    """One line: a turn, and the facts of its conversation."""

    schema_: Literal["evalgate.evaluation/1"] = Field(alias="schema")
    evaluation_id: Id
    golden_id: Id
    golden_title: Text = ""
    version: Annotated[int, Field(ge=1, lt=2**31)]
    conversation_id: Name | None = None
    suite: Name
    run_id: Name | None = None
    trial: Count = 0
    trace_id: Name | None = None
    trace_sha256: Name | None = None
    time: Moment
    intent: Name
    stance: Name
    turns: Count
    turn: Annotated[int, Field(ge=1)] | None
    user_message: Text | None = None
    actual_response: Text | None = None
    golden_response: Text | None = None
    scores: Scores = {}
    issues: Issues = []
    evidence: Texts = []
    latency_ms: Amount | None = None
    tokens: Count | None = None
    cost_usd: Amount | None = None
    retrieved_memories: Values = []
    tools_invoked: Texts = []
    tool_results: Values = []
    feedback: Annotated[list[FeedbackEntry], Field(max_length=MAX_ITEMS)] = []
    conversation: ConversationEntry

    def to_turn_result(self) -> TurnResult:
        """Converts to the record of the turn."""
        return TurnResult(
            self.user_message,
            self.actual_response,
            self.golden_response,
            self.scores,
            self.latency_ms,
            self.tokens,
            self.cost_usd,
            tuple(self.retrieved_memories),
            tuple(self.tools_invoked),
            tuple(self.tool_results),
            tuple(each.to_issue() for each in self.issues),
            tuple(self.evidence),
        )

    def to_evaluation(self, turns: tuple[TurnResult, ...]) -> ExportedEvaluation:
        """Converts to the evaluation of the conversation, with the given turns."""
        conversation = self.conversation
        evaluation = GoldenEvaluation(
            self.evaluation_id,
            self.golden_id,
            self.version,
            self.suite,
            conversation.score,
            conversation.level,
            conversation.scores,
            conversation.statistics.to_statistics(),
            conversation.evaluated_by,
            self.time,
            self.run_id,
            self.trial,
            self.trace_id,
            self.trace_sha256,
            turns,
            tuple(each.to_issue() for each in conversation.issues),
            conversation.regression_status,
            conversation.previous_score,
            conversation.id,
        )
        golden = GoldenSummary(self.golden_title, self.intent, self.stance, self.conversation_id)
        return ExportedEvaluation(evaluation, golden, tuple(each.to_feedback() for each in self.feedback))
