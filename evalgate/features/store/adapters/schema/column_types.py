"""Column types: each cleans the values it writes and rejects malformed values it reads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, CheckConstraint, Date, DateTime, Double, LargeBinary, MetaData, Text
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeDecorator

from evalgate.errors import SettingError
from evalgate.features.store.adapters.schema import values as stored_values
from evalgate.features.store.adapters.schema.values import clean_amount, clean_integer, clean_text, clean_time

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy.engine import Dialect
    from sqlalchemy.types import TypeEngine

MAX_KEY_BYTES = 512
"""Bytes of a name used as key: a PostgreSQL index takes entries of at most 2,704."""


# PostgreSQL sorts text by the server's language; by code points the order is the same everywhere.
_ORDERED_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


class _CheckedType(TypeDecorator[Any]):
    """Cleans each value that is written with `clean`, and checks each that is read with `check`; NULL is None.

    SQLAlchemy asks each subclass for `cache_ok`.
    """

    impl: Any = _ORDERED_TEXT
    clean: Callable[[Any], Any]
    check: Callable[[Any], Any]

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """The cleaned value."""
        return None if value is None else self.clean(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """The checked value."""
        return self.check(value)


def _clean_key(value: str) -> str:
    """The cleaned text; never truncated, as that would be another key."""
    clean = clean_text(value)
    if len(clean.encode()) > MAX_KEY_BYTES:
        raise SettingError(f"a name in a store may have at most {MAX_KEY_BYTES} bytes: `{clean[:40]}...`")
    return clean


def _clean_score(value: float) -> float:
    """Checks for NaN and infinity: SQLite stores NaN as NULL, which passes the constraint."""
    if not math.isfinite(value):
        raise SettingError("a score that is not a number can't be stored")
    return value


class CleanText(_CheckedType):
    """Any text."""

    cache_ok = True
    clean, check = staticmethod(clean_text), staticmethod(stored_values.text)


class EnumText(CleanText):
    """One of several words, as a constraint of its table also requires."""

    cache_ok = True

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words: Collection[str] = words

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Checks the word: the tables of a file may lack their constraints."""
        word = super().process_result_value(value, dialect)
        if word is not None and word not in self.words:
            raise stored_values.MalformedError
        return word


class Key(_CheckedType):
    """A text used as a key."""

    cache_ok = True
    clean, check = staticmethod(_clean_key), staticmethod(stored_values.text)


class Integer64(_CheckedType):
    """A whole number: the nearest that fits is written."""

    cache_ok = True
    impl = BigInteger
    clean, check = staticmethod(clean_integer), staticmethod(stored_values.whole)


class Amount(_CheckedType):
    """A cost, a latency or a mean; not finite means unknown."""

    cache_ok = True
    impl = Double
    clean, check = staticmethod(clean_amount), staticmethod(stored_values.amount)


class Score(_CheckedType):
    """A number in [0, 1], as a constraint of its table also requires."""

    cache_ok = True
    impl = Double
    clean, check = staticmethod(_clean_score), staticmethod(stored_values.score)


class UtcDateTime(TypeDecorator["datetime"]):
    """A time in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """SQLite stores times as text, so any text may be read."""
        return _SQLITE_DATE_TIME if dialect.name == "sqlite" else dialect.type_descriptor(self.impl_instance)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The time in UTC; without a zone for SQLite."""
        if value is None:
            return None
        moment = clean_time(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The time with its zone."""
        return None if value is None else clean_time(value)


class Day(TypeDecorator[Any]):
    """A day."""

    impl = Date
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """SQLite stores days as text, so any text may be read."""
        return _SQLITE_DATE if dialect.name == "sqlite" else dialect.type_descriptor(self.impl_instance)


class Blob(LargeBinary):
    """Bytes. If the file holds a number N instead, SQLAlchemy would allocate N bytes."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], bytes | None]:  # noqa: ARG002
        """Requires bytes or None."""

        def require_bytes(value: Any) -> bytes | None:
            if value is None or isinstance(value, bytes):
                return value
            raise stored_values.MalformedError

        return require_bytes


class _SqliteDateTime(sqlite.DATETIME):
    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _wrap_processor(super().result_processor(dialect, coltype))


class _SqliteDate(sqlite.DATE):
    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _wrap_processor(super().result_processor(dialect, coltype))


def _wrap_processor(inner: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """Wraps a result processor: invalid text raises MalformedError."""

    def process(value: Any) -> Any:
        try:
            return value if inner is None else inner(value)
        except (TypeError, ValueError):
            raise stored_values.MalformedError from None

    return process


_SQLITE_DATE_TIME: TypeEngine[Any] = _SqliteDateTime()  # type: ignore[no-untyped-call]
_SQLITE_DATE: TypeEngine[Any] = _SqliteDate()  # type: ignore[no-untyped-call]


METADATA = MetaData()


def require_one_of(column: str, words: Iterable[str], name: str) -> CheckConstraint:
    """The constraint that a column holds one of the words, or NULL."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=name)


def require_scores(prefix: str, names: Sequence[str]) -> list[CheckConstraint]:
    """The constraints that columns hold scores from 0 to 1, or NULL."""
    return [CheckConstraint(f"{name} >= 0 AND {name} <= 1", name=f"{prefix}_{name}_is_0_to_1") for name in names]
