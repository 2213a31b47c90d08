"""Finds where two JSON values differ, by path: `items[0].id` 42 -> 43."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.values.json_values import equal, show
from evalgate.models.comparison.trajectory import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 200
"""Characters of a value that are shown."""
AROUND = 20
"""Characters shown before the first difference of two long texts."""
MOST_LOOKED_AT = 1_000
MAX_DEPTH = 64
MAX_PATH = 200
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def differences(before: Any, now: Any, most: int) -> tuple[list[Difference], int]:
    """Returns the first `most` differences in the order of the values, and how many more (at most 1,000)."""
    found = list(islice(_walk(before, now, "", 0), MOST_LOOKED_AT))
    return found[:most], max(0, len(found) - most)


def excerpts(before: str, now: str, limit: int = SHOWN) -> tuple[str, str]:
    """Cuts two texts to at most `limit` characters, from shortly before their first difference.

    >>> excerpts("a" * 50 + "x", "a" * 50 + "y", 30)
    ('…aaaaaaaaaaaaaaaaaaaax', '…aaaaaaaaaaaaaaaaaaaay')
    """
    if max(len(before), len(now)) <= limit:
        return before, now
    same = next(
        (at for at, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(now)),
    )
    start = max(0, same - AROUND)
    return _from(before, start, limit), _from(now, start, limit)


def _from(text: str, start: int, limit: int) -> str:
    left = len(text) - start - limit
    head = "\u2026" if start else ""
    return f"{head}{text[start : start + limit]}{f'… (+{left})' if left > 0 else ''}"


def _walk(before: Any, now: Any, path: str, depth: int) -> Iterator[Difference]:
    if equal(before, now):
        return
    if depth < MAX_DEPTH and isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            place = _below(path, str(key))
            if key not in now:
                yield _gone(place, before[key])
            elif key not in before:
                yield _come(place, now[key])
            else:
                yield from _walk(before[key], now[key], place, depth + 1)
    elif depth < MAX_DEPTH and isinstance(before, list) and isinstance(now, list):
        for index in range(max(len(before), len(now))):
            place = f"{path}[{index}]"
            if index >= len(now):
                yield _gone(place, before[index])
            elif index >= len(before):
                yield _come(place, now[index])
            else:
                yield from _walk(before[index], now[index], place, depth + 1)
    else:
        yield Difference(path[:MAX_PATH], *_shown(before, now))


def _gone(path: str, value: Any) -> Difference:
    return Difference(path[:MAX_PATH], show(value, SHOWN), None)


def _come(path: str, value: Any) -> Difference:
    return Difference(path[:MAX_PATH], None, show(value, SHOWN))


def _shown(before: Any, now: Any) -> tuple[str, str]:
    if isinstance(before, str) and isinstance(now, str):
        before, now = excerpts(before, now)
    return show(before, 2 * SHOWN), show(now, 2 * SHOWN)


def _below(path: str, key: str) -> str:
    name = key if _PLAIN.fullmatch(key) else show(key, MAX_PATH)
    return f"{path}.{name}" if path else name
