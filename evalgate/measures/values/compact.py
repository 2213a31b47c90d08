"""Cuts values to a bounded size, with a hash of what was cut, and hashes texts so that only their meaning counts."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.measures.redaction.redact import on_secrets_changed, redact
from evalgate.measures.text.tool_words import unwrap_definition
from evalgate.measures.values.outputs import to_text

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TEXT = 4_000
"""Characters kept of a text."""
MAX_TEXT_AFTER = 80
"""The same once the total is used up."""
MAX_DEPTH = 32
_CHARACTERS_PER_ITEM = 16
_HASH_DIGITS = 12
LONGEST_NAME = 128
"""Characters of the name of a tool that has a digest of its own."""
MOST_TOOLS, MOST_SETS = 100, 20
"""Tools of a trace, and sets of tools of a suite, whose digests are kept."""


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


MOST_READ = 500_000
LENGTH = 16
HYPHENS_OF_UUID = 4
# It begins with one class of characters, which `re` finds fast in a long text.
_TIME = re.compile(
    r"[0-9](?:\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d?:\d\d(?::\d\d)?)"
)
_UUID = re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@lru_cache(maxsize=32)
def hash_stable_text(text: str) -> str:
    """Hashes the first 500,000 characters, without dates, times of day, UUIDs and secrets; 16 hexadecimal digits.

    >>> hash_stable_text("Today is 2026-01-01.") == hash_stable_text("Today is 2026-02-03.")
    True
    """
    kept = leave_out_run(redact(text[:MOST_READ]))
    return sha256(kept.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def leave_out_run(text: str) -> str:
    """A text without dates, times of day and UUIDs, which differ in each run.

    >>> leave_out_run("Today is 2026-01-01.")
    'Today is .'
    """
    if _may_have_time(text):
        text = _TIME.sub("", text)
    return _UUID.sub("", text) if text.count("-") >= HYPHENS_OF_UUID else text


def _may_have_time(text: str) -> bool:
    """Whether a `-` or `:` is between digits, which is found much faster than a date or time."""
    for mark in "-:":
        place = text.find(mark, 1)
        while place > 0:
            if text[place - 1].isdigit() and text[place + 1 : place + 3].isdigit():
                return True
            place = text.find(mark, place + 1)
    return False


on_secrets_changed(hash_stable_text.cache_clear)


def hash_tools(definitions: Sequence[dict[str, Any]]) -> str | None:
    """Hashes tool definitions in any order; None if one is not JSON."""
    try:
        encoded = sorted(_encode(each) for each in definitions)
    except orjson.JSONEncodeError:
        return None
    return hash_stable_text(b"\n".join(encoded).decode())


def digest_tools(definitions: Sequence[dict[str, Any]]) -> str:
    """NAME=DIGEST of each, in order; empty if one has no name of one word, or there are too many to be kept.

    >>> digest_tools([{"name": "refund", "parameters": {}}])
    'refund=658b45e9823f'
    """
    if len(definitions) > MOST_TOOLS:
        return ""
    found = []
    for each in definitions:
        name = unwrap_definition(each).get("name")
        if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or name.split() != [name]:
            return ""
        found.append(f"{name}={hash_stable_text(_encode(each).decode())[:_HASH_DIGITS]}")
    return " ".join(sorted(found))


def _encode(definition: dict[str, Any]) -> bytes:
    return orjson.dumps(definition, option=orjson.OPT_SORT_KEYS)
