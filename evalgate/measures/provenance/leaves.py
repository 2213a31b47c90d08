"""The values of a call's arguments that must come from somewhere, each with its path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.provenance.normal_form import normalize, split_tokens
from evalgate.measures.provenance.opened import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TRIVIAL = 10
"""Numbers below this are counts and need no source."""
MAX_WORDS, MAX_CHARACTERS = 8, 80
"""A longer text is free text: written, not passed on."""
_TELLING_KEY = re.compile(r"(?:\D*\d){3}|.*@")
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class Leaf(NamedTuple):
    """A text or number in the arguments of a call; `path` is as in `passengers[0].last_name`."""

    path: str
    value: Any

    @property
    def argument(self) -> str:
        """The name of the argument that holds it."""
        return re.split(r"[.\[]", self.path, maxsplit=1)[0]


def list_leaves(arguments: Any) -> Iterator[Leaf]:
    """Yields the values of arguments that are not trivial; JSON in a text is read as the value that it is.

    A key inside an argument counts as a value where it looks like an id.
    """
    for name, value in arguments.items() if isinstance(arguments, dict) else (("", arguments),):
        yield from _walk(str(name), value)


def _walk(path: str, value: Any) -> Iterator[Leaf]:
    stack = [(path, value)]
    while stack:
        path, found = stack.pop()
        if isinstance(found, str):
            parsed = parse_json(found)
            if parsed is not None and not isinstance(parsed, str):
                found = parsed
        if isinstance(found, dict):
            yield from (Leaf(f"{path}.{key}", key) for key in map(str, found) if _TELLING_KEY.match(key))
            stack.extend((f"{path}.{key}" if path else str(key), inner) for key, inner in reversed(found.items()))
        elif isinstance(found, list):
            stack.extend((f"{path}[{place}]", inner) for place, inner in reversed(list(enumerate(found))))
        elif not is_trivial(found):
            yield Leaf(path, found)


def is_trivial(value: Any) -> bool:
    """Whether a value needs no source: one character, a number below 10, a boolean, null, blank.

    >>> [is_trivial(each) for each in ("x", "7", 9.5, True, None, " ", "--", 10, "no")]
    [True, True, True, True, True, True, True, False, False]
    """
    if isinstance(value, str):
        return len(value.strip()) < 2 or _is_small(value) or not split_tokens(normalize(value))  # noqa: PLR2004
    return value is None or isinstance(value, bool) or abs(value) < MOST_TRIVIAL


def _is_small(text: str) -> bool:
    return re.fullmatch(r"\s*-?\d(?:\.\d{1,4})?\s*", text) is not None


def is_free_text(value: Any) -> bool:
    """Whether a value is text that somebody wrote: more than 8 words, or more than 80 characters in words.

    What has a digit or an @ is no word, so a long list of ids or addresses is none, nor is a letter alone.

    >>> is_free_text("Please call me back about the order of last week"), is_free_text("https://" + 90 * "a")
    (True, False)
    """
    if not isinstance(value, str):
        return False
    parts = value.split()
    words = sum(not _is_letter_or_id(word) for word in parts)
    has_words = words > 1 or _WITHOUT_BLANKS.search(value) is not None
    return words > MAX_WORDS or (len(" ".join(parts)) > MAX_CHARACTERS and has_words)


def _is_letter_or_id(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or any(each.isdigit() or each == "@" for each in word)
