"""Goldens in `results.json`: what each scored, what is wrong with it, and which turn moved it."""

from __future__ import annotations

from typing import Any, TypedDict


class IssueDoc(TypedDict):
    """Something found wrong; `turn` counts from 0 and is null where it is of the whole conversation."""

    category: str
    severity: str
    message: str
    evidence: str | None
    turn: int | None


class MoveDoc(TypedDict):
    """How a dimension moved since the baseline, and the turn (from 0) that moved most, where turns tell."""

    dimension: str
    before: float | None
    now: float | None
    delta: float | None
    turn: int | None


class GoldenDoc(TypedDict):
    """A scenario that is a golden: the golden itself, within bounds, and what became of it over its trials.

    `level` is that of the score, `regression_status` null where nothing was scored. `turns` holds the mean
    scores of each turn by dimension; `issues` counts turns of the golden.
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
    """One turn of a trial; `number` is that of the golden's turn from 0, null for one that it has not.

    `is_missing` says that only the golden has it.
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
    """One trace beside its golden; `issues` counts the turns that stand here."""

    dimensions: dict[str, Any]
    turns: list[TurnDoc]
    issues: list[IssueDoc]
