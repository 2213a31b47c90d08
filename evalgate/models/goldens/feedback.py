"""A person's feedback on an agent's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime

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
