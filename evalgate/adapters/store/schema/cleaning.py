"""Cleans values for both databases: no NUL, no unpaired surrogate, no number out of range."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import orjson

from evalgate.adapters.store.schema.stored_values import MalformedError

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
