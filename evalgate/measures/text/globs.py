"""Two kinds of wildcards: `*` in ids, with no other special character, and globs of paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.measures.text.plain_text import compose

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MAX_CROSSINGS = 2


_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_CLASS = re.compile(r"(\[[^\]/]+\])")


class GlobError(ValueError):
    """The pattern can't be meant."""


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


def compile_file_glob(pattern: str) -> re.Pattern[str]:
    """Compiles a glob of files; a folder's name means all below it, as in .gitignore. Raises GlobError."""
    plain = compose(pattern).replace("\\", "/")
    steps = [step for step in plain.split("/") if step not in {"", "."}]
    if not steps or ".." in steps or plain.startswith("!"):
        raise GlobError("a pattern of files is a path below the working directory, with no `!` or `..`")
    start, end = "/" if plain.startswith("/") else "", ["**"] if plain.endswith("/") else []
    below = "" if any(each in steps[-1] for each in "*?") else "(?:/.*)?"
    return re.compile(compile_path_glob(start + "/".join([*steps, *end])).pattern + below, re.DOTALL)


def compile_path_glob(pattern: str) -> re.Pattern[str]:
    """Compiles a glob of paths: `*`, `?`, `[ab]` stay within a folder, `**/` crosses folders. Raises GlobError.

    Pattern and paths are untrusted, so only `**` ever backtracks: matching takes at most as many steps as the
    square of a path's length.
    """
    *folders, name = pattern.split("/")
    if pattern.count("**") > MAX_CROSSINGS:
        raise GlobError(f"a path pattern may have at most {MAX_CROSSINGS} `**`")
    if found := _BRACES.search(pattern):
        raise GlobError(f"`{found[0][:40]}` is not read as a choice: write a pattern for each")
    parts = ["(?:[^/]+/)*" if folder == "**" else f"(?>{_compile_segment(folder)})/" for folder in folders]
    return re.compile("".join(parts) + (".*" if name == "**" else _compile_segment(name)), re.DOTALL)


def _compile_segment(part: str) -> str:
    """Compiles a path segment: text between stars matches at its first place, the last text at the end."""
    first, *rest = ["".join(map(_compile_text, _CLASS.split(text))) for text in part.split("*")]
    middle = "".join(f"(?>[^/]*?{text})" for text in rest[:-1])
    return f"{first}{middle}[^/]*{rest[-1]}" if rest else first


def _compile_text(text: str) -> str:
    """Compiles text without stars; `[ab]` is one of its characters, or itself, as folders of web routes are named."""
    literal = re.escape(text).replace(r"\?", "[^/]")
    if not _CLASS.fullmatch(text) or "--" in text:
        return literal
    negated = "^" if text[1] in "!^" else ""
    chars = f"(?!/)[{negated}" + re.escape(text[1 + len(negated) : -1]).replace(r"\-", "-") + "]"
    try:
        re.compile(chars)
    except re.error:  # as `[z-a]`
        return literal
    return f"(?:{literal}|{chars})"
