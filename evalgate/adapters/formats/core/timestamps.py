"""Reads timestamps: RFC 3339, or a number since 1970 whose size shows its unit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from evalgate.adapters.formats.core.fields import FieldError, number, time

UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0.0, 1.0))
"""(smallest value, units per second): nanoseconds, microseconds, milliseconds, seconds."""
MAX_TIMESTAMP = 1e20


def read_timestamp(value: Any, path: str) -> str | None:
    """A time as RFC 3339 in UTC, or None; raises FieldError."""
    if type(value) is not int and type(value) is not float:
        return time(value, path)
    if not 0 < value < MAX_TIMESTAMP:
        number(value, path)
        raise FieldError(path, "is no time")
    per_second = next(per_second for least, per_second in UNITS if value >= least)
    return datetime.fromtimestamp(value / per_second, UTC).isoformat().replace("+00:00", "Z")
