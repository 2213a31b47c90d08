"""Two kinds of wildcards: `*` in ids, where nothing else is special, and globs of paths."""

from __future__ import annotations

import re

MAX_STARS = 16


class GlobError(ValueError):
    """The pattern has more wildcards than anybody means."""


def matches_id(pattern: str, text: str) -> bool:
    """True where `text` is `pattern` with each `*` standing for any characters, none included.

    Ids of real data sets contain `[ ] | : ?`, so these stand for themselves.
    """
    head, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, tail = rest
    if len(text) < len(head) + len(tail) or not text.startswith(head) or not text.endswith(tail):
        return False
    position, end = len(head), len(text) - len(tail)
    for part in middle:
        found = text.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


def path_pattern(pattern: str) -> re.Pattern[str]:
    """A glob of paths: `*` and `?` stay within a folder, `**/` crosses folders. Raises GlobError."""
    if pattern.count("*") > MAX_STARS:
        raise GlobError(f"a path pattern may have {MAX_STARS} wildcards")
    parts, index = [], 0
    while index < len(pattern):
        if pattern.startswith("**/", index):
            parts.append("(?:[^/]+/)*")
            index += 3
        elif pattern.startswith("**", index):
            parts.append(".*")
            index += 2
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(pattern[index], re.escape(pattern[index])))
            index += 1
    return re.compile("".join(parts), re.DOTALL)
