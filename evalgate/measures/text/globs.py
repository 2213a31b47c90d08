"""Two kinds of wildcards: `*` in ids, with no other special character, and globs of paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MAX_CROSSINGS = 2


class GlobError(ValueError):
    """The pattern has too many `**`."""


def matches_id(pattern: str, text: str) -> bool:
    """Returns whether `text` matches `pattern`, in which each `*` matches any characters, or none.

    Ids of real data sets contain `[ ] | : ?`, so these are literal.
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


def find_names(pattern: str, names: Iterable[str]) -> Collection[str]:
    """Returns the pattern itself if it has no `*`, else those of the names that match it."""
    return (pattern,) if "*" not in pattern else {name for name in names if matches_id(pattern, name)}


def compile_path_glob(pattern: str) -> re.Pattern[str]:
    """Compiles a glob of paths: `*` and `?` stay within a folder, `**/` crosses folders. Raises GlobError.

    Pattern and paths are untrusted, so only `**` ever backtracks: matching takes at most as many steps as the
    square of a path's length.
    """
    *folders, name = pattern.split("/")
    if pattern.count("**") > MAX_CROSSINGS:
        raise GlobError(f"a path pattern may have at most {MAX_CROSSINGS} `**`")
    parts = ["(?:[^/]+/)*" if folder == "**" else f"(?>{_compile_segment(folder)})/" for folder in folders]
    return re.compile("".join(parts) + (".*" if name == "**" else _compile_segment(name)), re.DOTALL)


def _compile_segment(part: str) -> str:
    """Compiles a path segment: text between stars matches at its first place, the last text at the end."""
    first, *rest = [re.escape(text).replace(r"\?", "[^/]") for text in part.split("*")]
    middle = "".join(f"(?>[^/]*?{text})" for text in rest[:-1])
    return f"{first}{middle}[^/]*{rest[-1]}" if rest else first
