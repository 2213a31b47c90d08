"""Additional secrets of a project: matches of its patterns, and values of its named fields."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.measures.redaction.known_secrets import CONTEXTS, REDACTED, SHAPES
from evalgate.measures.text.patterns import Pattern, PatternFailedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FIELD, EXACT = "field", "secret"
NOT_SEARCHED = "text not searched"
MAX_DEPTH = 64
MAX_SLOW_SECONDS = 1.0
"""Total time of all slow searches of one pattern."""
_SAMPLE_TEXT = "Pack my box with five dozen liquor jugs, then call me back."

Span = tuple[int, int, str]


class SecretPattern(Struct, frozen=True):
    """One pattern, and the name that replaces its matches."""

    name: str
    pattern: Pattern


class ProjectSecrets:
    """The patterns and field names of one project, or of several merged."""

    def __init__(self, patterns: Sequence[SecretPattern] = (), fields: Sequence[str] = ()) -> None:
        self.patterns, self.fields = tuple(patterns), frozenset(name.casefold() for name in fields)
        self._named = NamedValues(self.fields)

    def merge(self, other: ProjectSecrets) -> ProjectSecrets:
        """Returns the secrets of both."""
        return ProjectSecrets((*self.patterns, *other.patterns), [*self.fields, *other.fields])

    def includes(self, other: ProjectSecrets) -> bool:
        """Returns whether all patterns and fields of the other are included."""
        pattern_keys = {(each.name, each.pattern.source) for each in self.patterns}
        other_keys = {(each.name, each.pattern.source) for each in other.patterns}
        return other_keys <= pattern_keys and other.fields <= self.fields

    def is_field(self, name: str) -> bool:
        """Returns whether the value of a field is always redacted."""
        return name.casefold() in self.fields

    def find_spans(self, text: str) -> Iterator[Span]:
        """Yields start, end and kind of each secret."""
        marks = self._find_marks(text)
        starts = [start for start, _ in marks]
        for span in (*self._find_pattern_spans(text), *self._find_field_spans(text)):
            index = bisect_right(starts, span[0])
            if not index or span[1] > marks[index - 1][1]:
                yield span

    def _find_marks(self, text: str) -> list[tuple[int, int]]:
        """Finds redaction marks: a text may be redacted more than once, and marks must stay unchanged."""
        return [found.span() for found in self._mark_pattern.finditer(text)] if REDACTED in text else []

    def _find_pattern_spans(self, text: str) -> Iterator[Span]:
        for each in self.patterns:
            try:
                yield from [(*place, each.name) for place in each.pattern.find_spans(text)]
            except PatternFailedError:
                yield 0, len(text), f"{each.name}, {NOT_SEARCHED}"

    def _find_field_spans(self, text: str) -> Iterator[Span]:
        if self.fields:
            yield from [(*place, FIELD) for place in self._named.find_spans(text)]

    @cached_property
    def _mark_pattern(self) -> re.Pattern[str]:
        own = [name for each in self.patterns for name in (each.name, f"{each.name}, {NOT_SEARCHED}")]
        known = [*(each.kind for each in SHAPES), *(each.kind for each in CONTEXTS)]
        names = {FIELD, EXACT, *known, *own}
        return re.compile(rf"\[redacted: (?:{'|'.join(map(re.escape, sorted(names)))})\]")


def explain_too_broad(pattern: Pattern) -> str | None:
    """Explains why a pattern would redact too much; None if it is usable. Raises PatternFailedError."""
    places = [*pattern.find_spans(""), *pattern.find_spans(_SAMPLE_TEXT)]
    if any(start == end for start, end in places):
        return "it matches empty text"
    hidden = sum(end - start for start, end in places)
    return "it matches ordinary text" if hidden * 4 > len(_SAMPLE_TEXT) else None


def redact_contents(value: Any, depth: int = 0) -> Any:
    """Redacts every text and number in a value; its structure stays visible."""
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return "[too deep]"
    if isinstance(value, dict):
        return {key: redact_contents(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [redact_contents(each, depth + 1) for each in value]
    return f"{REDACTED}{FIELD}]"


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
