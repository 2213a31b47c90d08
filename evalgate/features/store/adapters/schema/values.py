"""Values of both databases: cleaned before they are written, and their types checked when they are read.

No NUL, no unpaired surrogate, no number out of range; a SQLite file may hold any value in any column.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

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


MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
MAX_DEPTH = 64
_UNPAIRED_SURROGATES = dict.fromkeys(range(55296, 57344), "�")


def clean_text(text: str) -> str:
    """The text without NUL; unpaired surrogates become the replacement character."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_UNPAIRED_SURROGATES)
    return text


def clean_integer(number: int) -> int:
    """The number, or the nearest that fits into 64 bits."""
    return max(MIN_INTEGER, min(MAX_INTEGER, int(number)))


def clean_amount(number: float) -> float | None:
    """The number as a float; None if it is not finite."""
    try:
        amount = float(number)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) else None


def clean_time(moment: datetime) -> datetime:
    """The time in UTC; a time without a zone counts as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def dump_json(value: Any) -> str:
    """The value as JSON. Most values need no cleaning, so it is done only if encoding shows the need."""
    try:
        dumped = orjson.dumps(value)
    except TypeError:
        dumped = orjson.dumps(_clean(value, 0))
    else:
        if b"\\u0000" in dumped:
            dumped = orjson.dumps(_clean(value, 0))
    return dumped.decode()


def load_json(text: str | bytes) -> Any:
    """Decodes what `dump_json` encoded; raises MalformedError."""
    try:
        return orjson.loads(text)
    except (TypeError, ValueError):
        raise MalformedError from None


def _clean(value: Any, depth: int) -> Any:
    if isinstance(value, dict | list | tuple):
        return _clean_items(value, depth + 1) if depth < MAX_DEPTH else "[too deep]"
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return clean_integer(value)
    return clean_amount(value) if isinstance(value, float) else clean_text(str(value))


def _clean_items(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {clean_text(str(key)): _clean(item, depth) for key, item in value.items()}
    return [_clean(item, depth) for item in value]
