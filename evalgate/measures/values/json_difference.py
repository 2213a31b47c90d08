"""Finds where two JSON values differ, by path: `items[0].id` 42 -> 43."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.values.json_values import json_equal, show
from evalgate.models.comparison.trajectory import ValueDifference

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SHOWN = 200
"""Characters of a value that are shown."""
CONTEXT = 20
"""Characters shown before the first difference of two long texts."""
MAX_FOUND = 1_000
MAX_DEPTH = 64
MAX_PATH = 200
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def find_differences(baseline: Any, current: Any, most: int) -> tuple[list[ValueDifference], int]:
    """Returns the first `most` differences in the order of the values, and how many more (at most 1,000)."""
    found = list(islice(_walk(baseline, current, "", 0), MAX_FOUND))
    return found[:most], max(0, len(found) - most)


def excerpt_texts(baseline: str, current: str, limit: int = MAX_SHOWN) -> tuple[str, str]:
    """Cuts two texts to at most `limit` characters, from shortly before their first difference.

    >>> excerpt_texts("a" * 50 + "x", "a" * 50 + "y", 30)
    ('…aaaaaaaaaaaaaaaaaaaax', '…aaaaaaaaaaaaaaaaaaaay')
    """
    if max(len(baseline), len(current)) <= limit:
        return baseline, current
    same = next(
        (at for at, pair in enumerate(zip(baseline, current, strict=False)) if pair[0] != pair[1]),
        min(len(baseline), len(current)),
    )
    start = max(0, same - CONTEXT)
    return _excerpt(baseline, start, limit), _excerpt(current, start, limit)


def _excerpt(text: str, start: int, limit: int) -> str:
    left = len(text) - start - limit
    head = "\u2026" if start else ""
    return f"{head}{text[start : start + limit]}{f'… (+{left})' if left > 0 else ''}"


def _walk(baseline: Any, current: Any, path: str, depth: int) -> Iterator[ValueDifference]:
    if json_equal(baseline, current):
        return
    if depth < MAX_DEPTH and isinstance(baseline, dict) and isinstance(current, dict):
        for key in [*baseline, *(key for key in current if key not in baseline)]:
            child_path = _join_path(path, str(key))
            if key not in current:
                yield _build_removed(child_path, baseline[key])
            elif key not in baseline:
                yield _build_added(child_path, current[key])
            else:
                yield from _walk(baseline[key], current[key], child_path, depth + 1)
    elif depth < MAX_DEPTH and isinstance(baseline, list) and isinstance(current, list):
        for index in range(max(len(baseline), len(current))):
            child_path = f"{path}[{index}]"
            if index >= len(current):
                yield _build_removed(child_path, baseline[index])
            elif index >= len(baseline):
                yield _build_added(child_path, current[index])
            else:
                yield from _walk(baseline[index], current[index], child_path, depth + 1)
    else:
        yield ValueDifference(path[:MAX_PATH], *_show_both(baseline, current))


def _build_removed(path: str, value: Any) -> ValueDifference:
    return ValueDifference(path[:MAX_PATH], show(value, MAX_SHOWN), None)


def _build_added(path: str, value: Any) -> ValueDifference:
    return ValueDifference(path[:MAX_PATH], None, show(value, MAX_SHOWN))


def _show_both(baseline: Any, current: Any) -> tuple[str, str]:
    if isinstance(baseline, str) and isinstance(current, str):
        baseline, current = excerpt_texts(baseline, current)
    return show(baseline, 2 * MAX_SHOWN), show(current, 2 * MAX_SHOWN)


def _join_path(path: str, key: str) -> str:
    name = key if _PLAIN.fullmatch(key) else show(key, MAX_PATH)
    return f"{path}.{name}" if path else name
