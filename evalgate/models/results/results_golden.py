"""Goldens in `results.json`: their scores, their issues, and the turns that changed them."""

from __future__ import annotations

from typing import Any, TypedDict


class IssueDoc(TypedDict):
    """One issue; `turn` counts from 0 and is null for an issue of the whole conversation."""

    category: str
    severity: str
    message: str
    evidence: str | None
    turn: int | None


class MoveDoc(TypedDict):
    """Change of a dimension since the baseline; `turn` (from 0) changed most, null if unknown."""

    dimension: str
    before: float | None
    now: float | None
    delta: float | None
    turn: int | None


class GoldenDoc(TypedDict):
    """A golden, bounded in size, and its result over the trials of its scenario.

    `level` is the level of the score, `regression_status` is null if nothing was scored. `turns` has the mean
    scores of each turn by dimension; turns in `issues` are those of the golden.
    """

    id: str
    version: int
    title: str
    description: str
    conversation_id: str | None
    intent: str
    primary_stance: str
    secondary_stances: list[str]
    required_memory_recall: list[str]
    required_tool_usage: list[str]
    required_refusal: list[str]
    user_messages: list[str]
    golden_responses: list[str]
    tags: list[str]
    creator: str | None
    level: str | None
    regression_status: str | None
    previous_score: float | None
    moves: list[MoveDoc]
    turns: dict[str, Any]
    issues: list[IssueDoc]
    critical_issues: int


class TurnDoc(TypedDict):
    """One turn of a trial; `number` is the golden's turn, from 0, null if the golden does not have it.

    `is_missing` is true if only the golden has it.
    """

    number: int | None
    is_missing: bool
    user_message: str | None
    actual_response: str | None
    scores: dict[str, Any]
    latency_ms: float | None
    tokens: int | None
    cost_usd: float | None
    retrieved_memories: list[Any]
    tools_invoked: list[str]
    tool_results: list[Any]


class GoldenTrialDoc(TypedDict):
    """One trace compared with its golden; turns in `issues` are those of `turns`.

    `conversation_id` is that of the trace, null if it has none.
    """

    dimensions: dict[str, Any]
    turns: list[TurnDoc]
    issues: list[IssueDoc]
    conversation_id: str | None
