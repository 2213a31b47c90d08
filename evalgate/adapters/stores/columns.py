"""Types of columns: each cleans what it binds and gives back what Python means by it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, DateTime, Double, Text
from sqlalchemy.types import TypeDecorator

from evalgate.adapters.stores.cleaning import clean_amount, clean_integer, clean_text, clean_time
from evalgate.errors import SettingError

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Dialect

LONGEST_KEY = 512
"""Bytes of a name that is looked up by: an index of PostgreSQL takes no entry of more than 2,704."""


class CleanText(TypeDecorator[str]):
    """Any text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The text as a database takes it."""
        return None if value is None else clean_text(value)


class Key(TypeDecorator[str]):
    """A text that rows are found by."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The text, which is not made shorter: it would be another's."""
        if value is None:
            return None
        clean = clean_text(value)
        if len(clean.encode()) > LONGEST_KEY:
            raise SettingError(f"a store keeps no name of more than {LONGEST_KEY} bytes: `{clean[:40]}...`")
        return clean


class Integer64(TypeDecorator[int]):
    """A whole number."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """The number, or the nearest that fits."""
        return None if value is None else clean_integer(value)


class Amount(TypeDecorator[float]):
    """A cost, a latency, a mean: what is no number is not known."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """The number, None for what is none."""
        return None if value is None else clean_amount(value)


class Score(TypeDecorator[float]):
    """A number in [0, 1], as a rule of its table says too."""

    impl = Double
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """The number; SQLite would take what is none for an unknown one, and no rule would see it."""
        if value is not None and not math.isfinite(value):
            raise SettingError("a score that is no number can't be stored")
        return value


class Moment(TypeDecorator["datetime"]):
    """A moment in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC; SQLite keeps no zone."""
        if value is None:
            return None
        moment = clean_time(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The moment with its zone."""
        return None if value is None else clean_time(value)
