"""Checks the types of stored values: a SQLite file may hold any value in any column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping


T = TypeVar("T")


class MalformedError(Exception):
    """A stored value that EvalGate can't have written."""


def text(value: object) -> str | None:
    """A text or None."""
    return _require_type(value, str)


def whole(value: object) -> int | None:
    """A whole number or None."""
    return _require_type(value, int)


def amount(value: object) -> float | None:
    """A finite number or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    number = _require_type(value, float)
    if number is not None and not math.isfinite(number):
        raise MalformedError
    return number


def score(value: object) -> float | None:
    """A number in [0, 1] or None."""
    number = amount(value)
    if number is not None and not 0 <= number <= 1:
        raise MalformedError
    return number


def items(value: object) -> list[Any]:
    """A list."""
    found = _require_type(value, list)
    if found is None:
        raise MalformedError
    return found


def texts(value: object) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(map(_require_text, items(value)))


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object."""
    found = _require_type(value, dict)
    if found is None:
        raise MalformedError
    return found


def scores(value: object) -> dict[str, float | None]:
    """Scores by name."""
    return {name: score(item) for name, item in mapping(value).items()}


def counts(value: object) -> dict[str, int]:
    """Counts by name."""
    return {name: whole(item) or 0 for name, item in mapping(value).items()}


def _require_text(value: object) -> str:
    found = _require_type(value, str)
    if found is None:
        raise MalformedError
    return found


def _require_type(value: object, kind: type[T]) -> T | None:
    if value is None:
        return None
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    raise MalformedError
