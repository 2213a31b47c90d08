"""Stores people's feedback in its table."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from msgspec.structs import replace
from sqlalchemy import select

from evalgate.errors import SettingError
from evalgate.features.store.adapters.database import find_taken, match_own, paginate
from evalgate.features.store.adapters.goldens import require_goldens
from evalgate.features.store.adapters.schema.tables import FEEDBACK
from evalgate.features.store.adapters.schema.values import texts
from evalgate.features.store.ports import Page
from evalgate.models.goldens import MAX_RATING, MIN_RATING, SENTIMENTS, Feedback

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import Row

    from evalgate.features.store.adapters.database import Database, OneRepository

_FIELDS = Feedback.__match_args__


class FeedbackTable:
    """Implements the port `Feedbacks`."""

    def __init__(self, database: Database, now: Callable[[], datetime], only: OneRepository | None = None) -> None:
        """With `only` other repositories' feedback is not read, and new feedback names this repository."""
        self._database, self._now, self._only = database, now, only

    def create(self, feedback: Feedback) -> Feedback:
        """Stores feedback; adds an id and a time if missing."""
        stored = replace(
            feedback,
            id=feedback.id or _make_id(),
            user_id=_normalize_user_id(feedback.user_id),
            created_at=feedback.created_at or self._now(),
        )
        _check_feedback(stored)
        values: dict[str, Any] = {name: getattr(stored, name) for name in _FIELDS}
        values |= {"issues": list(stored.issues), "repository": self._only and self._only.name}
        with self._database.writing() as connection:
            if stored.golden_id is not None:
                require_goldens(connection, [stored.golden_id], self._only)
            if not self._database.insert_once(connection, FEEDBACK, values):
                taken = find_taken(connection, FEEDBACK.c.id, stored.id, self._only)
                raise SettingError(taken or f"the feedback `{stored.id[:100]}` already exists")
            return _parse_row(connection.execute(select(FEEDBACK).where(FEEDBACK.c.id == stored.id)).one())

    def list(self, page: Page = Page(), **equal: str | None) -> Sequence[Feedback]:  # noqa: B008  a constant
        """Feedback in the order it was given, with these values; see the port."""
        where = [FEEDBACK.c[name] == value for name, value in equal.items() if value is not None]
        where += match_own(FEEDBACK, self._only)
        query = paginate(select(FEEDBACK).where(*where).order_by(FEEDBACK.c.created_at, FEEDBACK.c.id), page)
        with self._database.reading() as connection:
            return [_parse_row(row) for row in connection.execute(query)]


def _parse_row(row: Row[Any]) -> Feedback:
    data = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    return Feedback(**{**{name: data[name] for name in _FIELDS}, "issues": texts(data["issues"])})


def _make_id() -> str:
    """A unique id that begins with the time of this machine: feedback of the same second is ordered by id."""
    return f"{time.time_ns():016x}{uuid4().hex[:16]}"


def _normalize_user_id(user_id: str | None) -> str | None:
    if user_id is None:
        return None
    try:
        return str(UUID(user_id))
    except ValueError:
        raise SettingError(f"a user id must be a UUID, not `{user_id[:100]}`") from None


def _check_feedback(feedback: Feedback) -> None:
    if not MIN_RATING <= feedback.rating <= MAX_RATING:
        raise SettingError(f"a rating must be a number from {MIN_RATING} to {MAX_RATING}")
    if feedback.feedback not in SENTIMENTS:
        raise SettingError(f"feedback must be one of {', '.join(SENTIMENTS)}")
