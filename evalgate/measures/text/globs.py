"""Two kinds of wildcards: `*` in ids, where nothing else is special, and globs of paths."""

from __future__ import annotations

import re

MAX_CROSSINGS = 2


class GlobError(ValueError):
    """The pattern crosses folders more often than anybody means."""


def matches_id(pattern: str, text: str) -> bool:
    """True where `text` is `pattern` with each `*` standing for any characters, none included.

    Ids of real data sets contain `[ ] | : ?`, so these stand for themselves.
    """
    if pattern == "*":
        return True
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
    """A glob of paths: `*` and `?` stay within a folder, `**/` crosses folders. Raises GlobError.

    A stranger writes pattern and paths, so nothing but `**` is ever tried twice: matching takes no more steps
    than the square of a path's length.
    """
    *folders, name = pattern.split("/")
    if pattern.count("**") > MAX_CROSSINGS:
        raise GlobError(f"a path pattern may have {MAX_CROSSINGS} `**`")
    parts = ["(?:[^/]+/)*" if folder == "**" else f"(?>{_within(folder)})/" for folder in folders]
    return re.compile("".join(parts) + (".*" if name == "**" else _within(name)), re.DOTALL)


def _within(part: str) -> str:
    """A part of a path: text between stars is taken where it first fits, and at the end by the last star."""
    first, *rest = [re.escape(text).replace(r"\?", "[^/]") for text in part.split("*")]
    middle = "".join(f"(?>[^/]*?{text})" for text in rest[:-1])
    return f"{first}{middle}[^/]*{rest[-1]}" if rest else first
