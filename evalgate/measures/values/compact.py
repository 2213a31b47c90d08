"""Cuts values to a bounded size; a hash of what was cut keeps them comparable."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from evalgate.measures.values.outputs import text_of

LONG = 4_000
"""Characters kept of a text."""
SHORT = 80
"""The same once the total is used up."""
MAX_DEPTH = 32
_PER_ITEM = 16
_HASH_DIGITS = 12


class Compactor:
    """Cuts values to `total` characters over all of them, and to `max_text` per text."""

    def __init__(self, room: int, most: int = LONG) -> None:
        self._room = room
        self._most = most

    def text(self, text: str, most: int | None = None) -> str:
        """Returns the text, or its beginning with the number of characters cut and the hash of the whole."""
        most = self._most if most is None else most
        limit = most if self._room > most else SHORT
        kept = text if len(text) <= limit else f"{text[:limit]}\u2026 (+{len(text) - limit}, {_digest(text)})"
        self._room -= len(kept)
        return kept

    def value(self, value: Any, depth: int = 0) -> Any:
        """Returns a JSON value with its texts cut; if it is too deep or too long, only its hash."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list):
            return value
        if depth >= MAX_DEPTH or len(value) * _PER_ITEM > self._room:
            return f"\u2026 ({len(value):,} items, {_digest(text_of(value))})"
        self._room -= len(value) * _PER_ITEM
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        return {self.text(str(key)): self.value(item, depth + 1) for key, item in value.items()}


def _digest(text: str) -> str:
    return f"sha256 {sha256(text.encode('utf-8', 'replace')).hexdigest()[:_HASH_DIGITS]}"
