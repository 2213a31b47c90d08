"""What a store keeps besides goldens: feedback, regression suites, exported evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

    from evalgate.models.run.golden import GoldenEvaluation


Sentiment = Literal["positive", "negative", "neutral"]

SENTIMENTS: tuple[Sentiment, ...] = ("positive", "negative", "neutral")
MIN_RATING, MAX_RATING = 1, 5


class Feedback(Struct, frozen=True):
    """Feedback of one person on a conversation, or on one message of it.

    `id` is empty and `created_at` None until it is stored; `user_id` is a UUID in its usual spelling.
    """

    id: str
    conversation_id: str
    rating: int
    feedback: Sentiment
    comment: str = ""
    issues: tuple[str, ...] = ()
    user_id: str | None = None
    message_id: str | None = None
    golden_id: str | None = None
    created_at: datetime | None = None


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


ENTRY_SCHEMA = "evalgate.evaluation/1"
METRICS_SCHEMA = "evalgate.metrics/1"


class GoldenSummary(Struct, frozen=True):
    """What an export contains of the golden besides its id, so that a line is clear without the store."""

    title: str
    intent: str
    stance: str
    conversation_id: str | None = None


class ExportedEvaluation(Struct, frozen=True):
    """One evaluation, its golden, and people's feedback on the conversation."""

    evaluation: GoldenEvaluation
    golden: GoldenSummary
    feedback: tuple[Feedback, ...] = ()
