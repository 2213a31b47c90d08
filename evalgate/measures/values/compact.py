"""Cuts values to a bounded size; a hash of what was cut keeps them comparable."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from evalgate.measures.values.outputs import to_text

MAX_TEXT = 4_000
"""Characters kept of a text."""
MAX_TEXT_AFTER = 80
"""The same once the total is used up."""
MAX_DEPTH = 32
_CHARACTERS_PER_ITEM = 16
_HASH_DIGITS = 12


class Compactor:
    """Cuts values to `total` characters over all of them, and to `max_text` per text."""

    def __init__(self, total: int, max_text: int = MAX_TEXT) -> None:
        self._left = total
        self._max_text = max_text

    def compact_text(self, text: str, most: int | None = None) -> str:
        """Returns the text, or its beginning with the number of characters cut and the hash of the whole."""
        most = self._max_text if most is None else most
        limit = most if self._left > most else MAX_TEXT_AFTER
        kept = text if len(text) <= limit else f"{text[:limit]}\u2026 (+{len(text) - limit}, {_digest(text)})"
        self._left -= len(kept)
        return kept

    def compact_value(self, value: Any, depth: int = 0) -> Any:
        """Returns a JSON value with its texts cut; if it is too deep or too long, only its hash."""
        if isinstance(value, str):
            return self.compact_text(value)
        if not isinstance(value, dict | list):
            return value
        if depth >= MAX_DEPTH or len(value) * _CHARACTERS_PER_ITEM > self._left:
            return f"\u2026 ({len(value):,} items, {_digest(to_text(value))})"
        self._left -= len(value) * _CHARACTERS_PER_ITEM
        if isinstance(value, list):
            return [self.compact_value(item, depth + 1) for item in value]
        return {self.compact_text(str(key)): self.compact_value(item, depth + 1) for key, item in value.items()}


def _digest(text: str) -> str:
    return f"sha256 {sha256(text.encode('utf-8', 'replace')).hexdigest()[:_HASH_DIGITS]}"
