"""Finds loops in a list: a block of entries that is repeated without anything between."""

from __future__ import annotations

from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

MAX_CYCLE = 1_000
"""Entries of the longest block that is searched: keeps the search linear in the length of the list."""


class Repeat(NamedTuple):
    """A block of `length` entries from `start` (counted from 0) that occurs `times` times in a row."""

    start: int
    length: int
    times: int


def find_repeat(entries: Sequence[Hashable], most: int) -> Repeat | None:
    """Finds the first of the shortest blocks that occur more than `most` (>= 1) times in a row, or None.

    A block of p entries occurs k times in a row exactly if (k - 1) * p entries in a row equal the entry p
    positions later. One byte per entry is compared for all positions at once; if those agree, the entries.
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(entry, len(numbers)) for entry in entries]
    size = len(codes)
    low = int.from_bytes(bytes(code & 255 for code in codes), "little")
    for length in range(1, min(size // (most + 1), MAX_CYCLE) + 1):
        apart = (low ^ (low >> (8 * length))).to_bytes(size, "little")
        if apart.find(bytes(most * length)) < 0:
            continue
        same = bytes(map(eq, codes, codes[length:]))
        start = same.find(b"\1" * (most * length))
        if start >= 0:
            end = same.find(b"\0", start)
            run = (len(same) if end < 0 else end) - start
            return Repeat(start, length, run // length + 1)
    return None


def json_key(value: Any) -> Hashable:
    """Returns a key that two JSON values share exactly if they are equal in JSON: 1 is 1.0, true is not 1."""
    if isinstance(value, dict):
        return ("object", frozenset((name, json_key(each)) for name, each in value.items()))
    if isinstance(value, list):
        return ("list", tuple(map(json_key, value)))
    if isinstance(value, bool):
        return ("boolean", value)
    key: Hashable = value
    return key
