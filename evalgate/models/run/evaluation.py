"""The evaluation of one conversation against its golden: per turn, as a whole, and its regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.models.run.dimension import DIMENSIONS as DIMENSIONS  # noqa: PLC0414  re-exported
from evalgate.models.run.dimension import Dimension as Dimension  # noqa: PLC0414  the same
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

IssueCategory = Literal["identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness"]
Severity = Literal["info", "warning", "error", "critical"]
Level = Literal["excellent", "good", "fair", "poor", "failing"]
RegressionStatus = Literal["pass", "fail", "improvement", "degradation"]

CATEGORIES: tuple[IssueCategory, ...] = (
    *("identity", "memory", "tools", "tone", "refusal", "accuracy"),
    "completeness",
)
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error", "critical")
LEVELS: tuple[Level, ...] = ("excellent", "good", "fair", "poor", "failing")
REGRESSION_STATUSES: tuple[RegressionStatus, ...] = ("pass", "fail", "improvement", "degradation")


class Issue(NamedTuple):
    """One issue. `turn` counts from 0 and is None for an issue of the whole conversation."""

    category: IssueCategory
    severity: Severity
    message: str
    evidence: str | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One turn of a trace and of its golden; unknown values are None.

    A missing turn has no `actual_response`, an extra one no `golden_response`. A dimension with nothing to
    judge scores None. Memories and tool results are JSON values.
    """

    user_message: str | None
    actual_response: str | None
    golden_response: str | None
    scores: Mapping[str, float | None]
    latency_ms: float | None = None
    tokens: int | None = None
    cost: float | None = None
    retrieved_memories: tuple[Any, ...] = ()
    tools_invoked: tuple[str, ...] = ()
    tool_results: tuple[Any, ...] = ()
    issues: tuple[Issue, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationStatistics:
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


@dataclass(frozen=True, slots=True)
class GoldenEvaluation:
    """One trace judged by one version of a golden.

    `id` is empty until it is stored, unless its creator set one. `run_id` is None outside a run;
    `trace_sha256` is the fingerprint of the trace. `regression_status` is None if nothing could be scored.
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
