"""A regression suite: which goldens are judged together, and how strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

PASSING_SCORE = 0.85


class RegressionSuite(Struct, frozen=True):
    """Goldens selected by ids, tags or intents: one that matches any of the three belongs to the suite.

    A dimension that is not evaluated is left out of the score. The times are None until a store has set them.
    """

    name: str
    description: str = ""
    golden_ids: tuple[str, ...] = ()
    golden_tags: tuple[str, ...] = ()
    golden_intents: tuple[str, ...] = ()
    passing_score: float = PASSING_SCORE
    critical_issue_threshold: int = 0
    evaluate_identity: bool = True
    evaluate_memory: bool = True
    evaluate_tools: bool = True
    evaluate_tone: bool = True
    evaluate_refusal: bool = True
    evaluate_accuracy: bool = True
    evaluate_completeness: bool = True
    creator: str | None = None
    tags: tuple[str, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
