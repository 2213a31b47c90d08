"""Cleans values for a document: redacted, of bounded size, and valid JSON for any reader."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from evalgate.measures.redaction.redact import on_secrets_changed, redact, redact_field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Clean = Callable[[Any], Any]

TEXT_LIMIT = 2_000
NAME_LIMIT = 600
MAX_DEPTH = 8
MAX_ITEMS = 50
_EVIDENCE_TEXT = 500
MAX_CACHED_NAMES = 1_000
"""Most names of calls that are cached."""
MAX_CACHED_TEXT = 2_000
"""Longest text that is cached, in characters; shorter ones often occur in many trials."""
_LARGEST = 2**63 - 1


def clean_text(text: str, limit: int = TEXT_LIMIT) -> str:
    """Redacts text, replaces surrogates, and cuts it to `limit` characters and a count of the rest."""
    return _clean_text(text, limit) if text[MAX_CACHED_TEXT:] else _clean_text_cached(text, limit)


def _clean_text(text: str, limit: int) -> str:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    clean = redact(text)
    return clean if len(clean) <= limit else f"{clean[:limit]}\u2026 (+{len(clean) - limit})"


_clean_text_cached = lru_cache(maxsize=16_384)(_clean_text)
on_secrets_changed(_clean_text_cached.cache_clear)


def clean_name(text: str) -> str:
    """Cleans an id, a path or a name."""
    return _clean_text(text, NAME_LIMIT) if text[MAX_CACHED_TEXT:] else _clean_text_cached(text, NAME_LIMIT)


def clean_id(text: str) -> str:
    """Cleans an id that occurs rarely, so that it is not cached."""
    return _clean_text(text, NAME_LIMIT)


def clean_names(names: Sequence[str]) -> list[str]:
    """Cleans a list of names that occur in many trials."""
    return list(map(_NAME_CACHE.__getitem__, names))


class NameCache(dict[str, str]):
    """Cleaned names by raw name; the first ones are cached, unless they are long."""

    def __missing__(self, name: str) -> str:
        clean = _clean_text(name, NAME_LIMIT)
        if len(self) < MAX_CACHED_NAMES and len(name) <= NAME_LIMIT:
            self[name] = clean
        return clean


_NAME_CACHE = NameCache()
on_secrets_changed(_NAME_CACHE.clear)


def clean_optional_name(text: str | None) -> str | None:
    """Cleans a name, or returns None."""
    return None if text is None else clean_text(text, NAME_LIMIT)


def clean_optional_text(text: str | None) -> str | None:
    """Cleans a text, or returns None."""
    return None if text is None else clean_text(text)


def clean_evidence(evidence: dict[str, Any] | None) -> dict[str, Any] | None:
    """Cleans evidence: at most eight levels, fifty items per level and 500 characters per text."""
    return _clean_items(evidence, 1) if evidence else None


def clamp_count(number: int | None) -> int | None:
    """Clamps a count to the signed 64 bits that every JSON reader can hold."""
    if number is None or -_LARGEST <= number <= _LARGEST:
        return number
    return _LARGEST if number > 0 else -_LARGEST


def _clean_value(value: Any, depth: int) -> Any:
    if type(value) is str:
        return clean_text(value, _EVIDENCE_TEXT)
    if isinstance(value, dict | list | tuple):
        return _clean_items(value, depth + 1) if depth < MAX_DEPTH else "\u2026"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return clamp_count(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    return clean_text(str(value), _EVIDENCE_TEXT)


def _clean_items(value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int) -> Any:
    if isinstance(value, dict):
        pairs = islice(value.items(), MAX_ITEMS)
        return {clean_name(str(key)): redact_field(str(key), _clean_value(item, depth)) for key, item in pairs}
    return [_clean_value(item, depth) for item in islice(value, MAX_ITEMS)]
