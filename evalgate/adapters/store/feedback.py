"""Stores people's feedback in its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, select

from evalgate.adapters.store.goldens import require_goldens
from evalgate.adapters.store.paging import paged
from evalgate.adapters.store.schema.stored_values import texts
from evalgate.adapters.store.schema.tables import FEEDBACK
from evalgate.errors import SettingError
from evalgate.models.goldens.feedback import LEAST_RATING, MOST_RATING, SENTIMENTS, Feedback
from evalgate.ports.store import Page
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import Row

    from evalgate.adapters.store.database import Database

_FIELDS = Feedback.__match_args__


class FeedbackTable:
    """Implements the port `Feedbacks`."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def create(self, feedback: Feedback) -> Feedback:
        """Stores feedback; adds an id and a time if missing."""
        stored = replace(
            feedback,
            id=feedback.id or uuid4().hex,
            user_id=_user(feedback.user_id),
            created_at=feedback.created_at or self._now(),
        )
        _check(stored)
        values: dict[str, Any] = {name: getattr(stored, name) for name in _FIELDS}
        values["issues"] = list(stored.issues)
        with self._database.writing() as connection:
            if stored.golden_id is not None:
                require_goldens(connection, [stored.golden_id])
            if not self._database.insert_once(connection, FEEDBACK, values):
                raise SettingError(f"there is feedback `{stored.id[:100]}` already")
            return _feedback(connection.execute(select(FEEDBACK).where(FEEDBACK.c.id == stored.id)).one())

    def list(self, page: Page = Page()) -> Sequence[Feedback]:  # noqa: B008  a constant
        """All feedback, oldest first."""
        return self._listed(page)

    def of_conversation(self, conversation_id: str, page: Page = Page()) -> Sequence[Feedback]:  # noqa: B008
        """The feedback on one conversation."""
        return self._listed(page, FEEDBACK.c.conversation_id == conversation_id)

    def of_golden(self, golden_id: str, page: Page = Page()) -> Sequence[Feedback]:  # noqa: B008
        """The feedback on one golden."""
        return self._listed(page, FEEDBACK.c.golden_id == golden_id)

    def _listed(self, page: Page, *asked: ColumnElement[bool]) -> Sequence[Feedback]:
        wanted = paged(select(FEEDBACK).where(*asked).order_by(FEEDBACK.c.created_at, FEEDBACK.c.id), page)
        with self._database.reading() as connection:
            return [_feedback(row) for row in connection.execute(wanted)]


def _feedback(row: Row[Any]) -> Feedback:
    told = row._mapping  # noqa: SLF001  its public name in SQLAlchemy
    return Feedback(**{**{name: told[name] for name in _FIELDS}, "issues": texts(told["issues"])})


def _user(user_id: str | None) -> str | None:
    if user_id is None:
        return None
    try:
        return str(UUID(user_id))
    except ValueError:
        raise SettingError(f"a user is named by a UUID, and `{user_id[:100]}` is none") from None


def _check(feedback: Feedback) -> None:
    if not LEAST_RATING <= feedback.rating <= MOST_RATING:
        raise SettingError(f"a rating is a number from {LEAST_RATING} to {MOST_RATING}")
    if feedback.feedback not in SENTIMENTS:
        raise SettingError(f"feedback is one of {', '.join(SENTIMENTS)}")
