"""Types of columns: each cleans what it binds and refuses to give back what is not of its kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Date, DateTime, Double, LargeBinary, Text
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeDecorator

from evalgate.adapters.store.schema import stored_values
from evalgate.adapters.store.schema.cleaning import clean_amount, clean_integer, clean_text, clean_time
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from sqlalchemy.engine import Dialect
    from sqlalchemy.types import TypeEngine

LONGEST_KEY = 512
"""Bytes of a name that is looked up by: an index of PostgreSQL takes no entry of more than 2,704."""


# PostgreSQL orders text by the language of its server; by code points it is the same order everywhere.
_ORDERED = Text().with_variant(Text(collation="C"), "postgresql")


class CleanText(TypeDecorator[str]):
    """Any text."""

    impl = _ORDERED
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The text as a database takes it."""
        return None if value is None else clean_text(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """A text."""
        return stored_values.text(value)


class Word(CleanText):
    """One of some words, as a rule of its table says too."""

    cache_ok = True

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words: Collection[str] = words

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:
        """One of the words: the tables of a file may have lost their rules."""
        word = super().process_result_value(value, dialect)
        if word is not None and word not in self.words:
            raise stored_values.MalformedError
        return word


class Key(TypeDecorator[str]):
    """A text that rows are found by."""

    impl = _ORDERED
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The text, which is not made shorter: it would be another's."""
        if value is None:
            return None
        clean = clean_text(value)
        if len(clean.encode()) > LONGEST_KEY:
            raise SettingError(f"a store keeps no name of more than {LONGEST_KEY} bytes: `{clean[:40]}...`")
        return clean

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """A text."""
        return stored_values.text(value)


class Integer64(TypeDecorator[int]):
    """A whole number."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """The number, or the nearest that fits."""
        return None if value is None else clean_integer(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """A whole number."""
        return stored_values.whole(value)


class Amount(TypeDecorator[float]):
    """A cost, a latency, a mean: what is no number is not known."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """The number, None for what is none."""
        return None if value is None else clean_amount(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """A number."""
        return stored_values.amount(value)


class Score(TypeDecorator[float]):
    """A number in [0, 1], as a rule of its table says too."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """The number; SQLite would take what is none for an unknown one, and no rule would see it."""
        if value is not None and not math.isfinite(value):
            raise SettingError("a score that is no number can't be stored")
        return value

    def process_result_value(self, value: Any | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """A number in [0, 1]."""
        return stored_values.score(value)


class Moment(TypeDecorator["datetime"]):
    """A moment in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """SQLite keeps moments as text, which may be any."""
        return _TIME if dialect.name == "sqlite" else dialect.type_descriptor(self.impl_instance)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC; SQLite keeps no zone."""
        if value is None:
            return None
        moment = clean_time(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The moment with its zone."""
        return None if value is None else clean_time(value)


class Day(TypeDecorator[Any]):
    """A day."""

    impl = Date
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """SQLite keeps days as text, which may be any."""
        return _DAY if dialect.name == "sqlite" else dialect.type_descriptor(self.impl_instance)


class Packed(LargeBinary):
    """Bytes; SQLAlchemy would make as many of them as a number says that stands in their place."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], bytes | None]:  # noqa: ARG002
        """Bytes or nothing."""

        def bytes_of(value: Any) -> bytes | None:
            if value is None or isinstance(value, bytes):
                return value
            raise stored_values.MalformedError

        return bytes_of


class _MomentText(sqlite.DATETIME):
    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _held(super().result_processor(dialect, coltype))


class _DayText(sqlite.DATE):
    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        return _held(super().result_processor(dialect, coltype))


def _held(inner: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """The processor, which says what we say of a text that is none of its kind."""

    def told(value: Any) -> Any:
        try:
            return value if inner is None else inner(value)
        except (TypeError, ValueError):
            raise stored_values.MalformedError from None

    return told


_TIME: TypeEngine[Any] = _MomentText()  # type: ignore[no-untyped-call]
_DAY: TypeEngine[Any] = _DayText()  # type: ignore[no-untyped-call]
