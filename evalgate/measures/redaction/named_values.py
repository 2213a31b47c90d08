"""Finds values after their names in text: `name: value`, `name=value`, and quoted JSON.

The work is linear in the text's length, also if quotes and brackets are never closed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLANKS = 4
_ASSIGNMENT = re.compile(rf"(?<![=!<>~])(?P<sign>=>|:=|:|=)(?![=~])[ \t]{{0,{_BLANKS}}}")
_CLOSING = {"{": "}", "[": "]"}
_EMPTY_VALUES = {"", "null", "true", "false", "None", "True", "False"}
_WORD = re.compile(r"[^\s\"'`,;&<>\\{}()\[\]]+")
_LINE = re.compile(r"[^\r\n\"'`,;&<>\\{}()\[\]]+")
_QUOTE = re.compile(r"\\*[\"'`]")
_TOKEN = re.compile(r'(?P<quote>\\*")|\\+|[^\\"{}\[\]]+|[{}\[\]]')


class NamedValues:
    """Finds values after any of the given names, ignoring case."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name.casefold() for name in names)
        self._lengths = sorted({len(name) for name in self._names})
        self._last_characters = frozenset(name[-1] for name in self._names)
        self._max_reach = max(self._lengths, default=0) + 2 * _BLANKS

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields start and end of each value.

        >>> text = 'Name: Ann Lee; {"name": "Bob"} name=Eve, no_name=Cy'
        >>> [text[start:end] for start, end in NamedValues(["name"]).find_spans(text)]
        ['Ann Lee', 'Bob', 'Eve']
        """
        value_end = 0
        for mark in _ASSIGNMENT.finditer(text):
            if mark.start() < value_end or not self._has_name_before(text, mark.start()):
                continue
            start, value_end = _find_value(text, mark.end(), is_line=mark["sign"] == ":")
            if text[start:value_end].strip() not in _EMPTY_VALUES:
                yield start, value_end

    def _has_name_before(self, text: str, at: int) -> bool:
        """Returns whether one of the names ends before a position, as a separate word."""
        before = text[max(0, at - self._max_reach) : at].rstrip(" \t").rstrip("\"'`*").rstrip("\\").casefold()
        if before[-1:] not in self._last_characters:
            return False
        return any(
            before[-length:] in self._names and not _is_name_character(before[-length - 1 : -length])
            for length in self._lengths
            if length <= len(before)
        )


def _is_name_character(character: str) -> bool:
    """Returns whether the character to the left would make the name part of a longer one."""
    return character.isalnum() or character == "_"


def _find_value(text: str, at: int, *, is_line: bool) -> tuple[int, int]:
    """Finds a quoted or bracketed value, a word or the rest of a line; unclosed ones end with the text."""
    quote = _QUOTE.match(text, at)
    if quote:
        closing = _find_closing_quote(text, quote[0], quote.end())
        return quote.end(), closing.start() if closing else len(text)
    if text[at : at + 1] in _CLOSING:
        return at, _find_closing_bracket(text, at)
    bare = (_LINE if is_line else _WORD).match(text, at)
    return at, bare.end() if bare else at


def _find_closing_quote(text: str, quote: str, at: int) -> re.Match[str] | None:
    """Finds the quote escaped like the opening one; quotes within the value have one more escape."""
    return re.compile(rf"(?<!\\){re.escape(quote)}").search(text, at)


def _find_closing_bracket(text: str, at: int) -> int:
    """Returns the position after the matching bracket. Brackets within quotes do not count."""
    open_brackets: list[str] = []
    while token := _TOKEN.match(text, at):
        at = token.end()
        if token["quote"]:
            closing = _find_closing_quote(text, token["quote"], at)
            at = closing.end() if closing else len(text)
        elif token[0] in _CLOSING:
            open_brackets.append(_CLOSING[token[0]])
        elif token[0] == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                break
    return at
