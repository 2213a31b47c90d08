"""Golden conversations: how an agent should answer, turn by turn, and what it should do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.records import dataclass

if TYPE_CHECKING:
    from datetime import datetime

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


@dataclass(frozen=True, slots=True)
class Golden:
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
