"""Readers of settings: each converts a text to a value; the text of its ValueError continues after the setting's name.

One that others describe too, such as a choice of words, is a class whose objects are called.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

LONGEST_PATH, LONGEST_NAME = 1_000, 255
"""Maximum characters of a path and bytes of one component, on any system."""
BRANCH = r"[^\x00-\x20\x7f~^:?*\[\\]{1,255}"


def nearest_choice(word: str, choices: Any) -> str | None:
    """The choice closest to a misspelt word, if any is close."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, sorted(choices), n=1, cutoff=0.7)), None)


def read_text(text: str) -> str:
    """One line without control characters."""
    if any(ord(character) < ord(" ") for character in text):
        raise ValueError("must be one line without control characters")
    return text


def read_lines(text: str) -> tuple[str, ...]:
    """Its lines, without empty ones."""
    return tuple(read_text(line.strip()) for line in text.splitlines() if line.strip())


def read_flag(text: str) -> bool:
    """`true` or `false`."""
    return OneOf("true", "false")(text.lower()) == "true"


class OneOf:
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __call__(self, text: str) -> str:
        """The value of the text; raises ValueError."""
        if text not in self.words:
            guess = nearest_choice(text.lower(), self.words)
            remedy = f"; did you mean `{guess}`?" if guess else ""
            raise ValueError(f"must be one of {', '.join(self.words)}, not `{shorten(text)}`{remedy}")
        return text


class OneOrMoreOf:
    """Some of these words, separated by commas or lines; `hint` says what to do instead of naming none."""

    def __init__(self, *words: str, hint: str = "") -> None:
        self.words, self.hint = words, hint

    def __call__(self, text: str) -> tuple[str, ...]:
        """The value of the text; raises ValueError."""
        words = [word.strip() for word in re.split(r"[,\n]", text) if word.strip()]
        if not words or text.strip() == "[]":
            raise ValueError(f"is empty{self.hint}")
        read_choice = OneOf(*self.words)
        return tuple(dict.fromkeys(read_choice(word) for word in words))


class Matching:
    """A text that the pattern matches as a whole."""

    def __init__(self, pattern: re.Pattern[str], description: str) -> None:
        self.pattern, self.description = pattern, description

    def __call__(self, text: str) -> str:
        """The value of the text; raises ValueError."""
        if not self.pattern.fullmatch(text):
            raise ValueError(f"must be {self.description}, not `{shorten(text)}`")
        return text


class Count:
    """A whole number within these bounds; one above `most` means `most`."""

    def __init__(self, low: int, high: int, most: int | None = None) -> None:
        self.low, self.high = low, high
        self.most = high if most is None else most

    def __call__(self, text: str) -> int:
        """The value of the text; raises ValueError."""
        if not re.fullmatch(r"[0-9]{1,9}", text) or not self.low <= int(text) <= self.high:
            raise ValueError(f"must be a whole number from {self.low} to {self.high}, not `{shorten(text)}`")
        return min(int(text), self.most)


def read_inside_path(text: str) -> str:
    """A path that, followed by its parts, stays inside the workspace."""
    depth = 0
    for part in read_text(text).split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            break
    if text.startswith("/") or depth < 0:
        raise ValueError(f"must be a path inside the workspace, not `{shorten(text)}`")
    if len(text) > LONGEST_PATH or any(
        len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in text.split("/")
    ):
        raise ValueError(f"is too long for a path: `{shorten(text)}`")
    return text


def read_file_path(text: str) -> str:
    """The path of a file inside the workspace."""
    if posixpath.normpath(read_inside_path(text)) == ".":
        raise ValueError(f"must be the path of a file, not `{shorten(text)}`")
    return text


def read_branch(text: str) -> str:
    """Checks a branch name by git's rules: it is used in URLs, where `..` would lead elsewhere."""
    is_wrong = any(each in text for each in ("..", "//", "@{"))
    if is_wrong or text.startswith(("/", "-")) or text.endswith(("/", ".", ".lock")):
        raise ValueError(f"must be the name of a branch, not `{shorten(text)}`")
    return Matching(re.compile(BRANCH), "the name of a branch")(text)


def read_token(text: str) -> str:
    """A token, which no message repeats."""
    if not re.fullmatch(r"[!-~]{1,4000}", text):
        raise ValueError("is not a token: it contains blanks or invalid characters")
    return text


def shorten(text: str, limit: int = 60) -> str:
    """Shortens a value for a message."""
    return text if len(text) <= limit + len("...") else f"{text[:limit]}..."
