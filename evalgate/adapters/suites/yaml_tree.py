"""Reads YAML within size limits and keeps the line and column of each part.

It builds values from parser events, so that no part of an untrusted file is expanded before it is counted.
Aliases, depth and the number of values are limited; merge keys, tags and duplicate keys are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from msgspec import Struct, field

from evalgate.errors import Location, Problem, SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 64
MAX_VALUES = 200_000
MAX_ALIASES = 1_000
MAX_WARNINGS = 20

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser where PyYAML was built with it

_SYNTAX = {
    "mapping values are not allowed": "a `: ` is not allowed here; quote the text, or fix the indentation",
    "did not find expected key": "the indentation does not match the lines above",
    "did not find expected '-' indicator": "the indentation does not match the lines above",
    "could not find expected ':'": "a key without `:`",
    "found character that cannot start any token": "a special character begins a value; quote it",
    "found undefined tag handle": "tags are not allowed in a suite",
    "found undefined alias": "this alias has no anchor",
    "found unknown escape character": "an unknown escape in double quotes; use single quotes",
    "did not find expected <document start>": "text after the end of the document",
}


_UNCLOSED = {
    "found unexpected end of stream": ("a quoted text is never closed", "quotes"),
    "did not find expected ',' or ']'": ("a list in brackets is never closed", "`,` or `]`"),
    "did not find expected ',' or '}'": ("a mapping in braces is never closed", "`,` or `}`"),
}
"""Errors reported where the text begins: the parser only notices them at the end of the file."""


class YamlPosition(NamedTuple):
    """A line and a column, counted from 1."""

    line: int
    column: int


START = YamlPosition(1, 1)


class YamlDocument(Struct):
    """A loaded file: its content, and the position of each part."""

    file: str
    value: Any = None
    warnings: list[Problem] = field(default_factory=list)
    # By `id()` of each mapping or list: the positions of its keys or items. `value` keeps the objects alive.
    positions: dict[int, dict[str | int, YamlPosition]] = field(default_factory=dict)

    def locate(self, path: tuple[str | int, ...]) -> Location:
        """The location of the part at `path`, or of the closest part around it."""
        position, part = START, self.value
        for step in path:
            positions = self.positions.get(id(part), {})
            if step not in positions:
                break
            position, part = positions[step], part[step]
        return Location(self.file, *position)


def load(text: str, file: str) -> YamlDocument:
    """Parses one YAML document. Raises SuiteError naming line and column."""
    document = YamlDocument(file)
    try:
        _TreeReader(document, yaml.parse(text, Loader=_LOADER)).read()
    except yaml.MarkedYAMLError as error:
        raise _find_tab(document, error, text) or _syntax_error(document, error) from None
    except yaml.reader.ReaderError:
        raise SuiteError(Problem("a character that YAML does not allow", Location(file))) from None
    return document


def _find_tab(document: YamlDocument, error: yaml.MarkedYAMLError, text: str) -> SuiteError | None:
    """The error of a line that a tab indents, at which or above which the parser stops; None without one."""
    stop = error.problem_mark.line if error.problem_mark else -1
    for number, line in enumerate(text.split("\n")[: stop + 1]):
        indentation = line[: len(line) - len(line.lstrip(" \t"))]
        if number >= stop - 1 and "\t" in indentation:
            place = Location(document.file, number + 1, indentation.index("\t") + 1)
            return SuiteError(Problem("a tab indents this line", place, "YAML allows only spaces there"))
    return None


def _syntax_error(document: YamlDocument, error: yaml.MarkedYAMLError) -> SuiteError:
    found, end = error.problem or "", error.problem_mark
    left_open = next((meaning for phrase, meaning in _UNCLOSED.items() if phrase in found), None)
    if left_open is not None and error.context_mark and end:
        message, missing = left_open
        hint = f"{missing} expected by line {end.line + 1}, column {end.column + 1}"
        return _error(document, error.context_mark, message, hint)
    reason = next((meaning for phrase, meaning in _SYNTAX.items() if phrase in found), None)
    return _error(document, end or error.context_mark, reason or "this is not valid YAML")


def _error(document: YamlDocument, mark: Any, message: str, hint: str | None = None) -> SuiteError:
    place = Location(document.file, mark.line + 1, mark.column + 1) if mark else Location(document.file)
    return SuiteError(Problem(message, place, hint))


class _Anchor(Struct):
    """A value that aliases repeat: how many values it holds, and how many levels of lists and mappings."""

    value: Any
    size: int
    levels: int


class _TreeReader:
    """Builds plain data from parser events and counts the values."""

    def __init__(self, document: YamlDocument, events: Iterator[Any]) -> None:
        self._document = document
        self._events = events
        self._anchors: dict[str, _Anchor | None] = {}
        self._aliases = 0
        self._count = 0
        self._deepest = 0

    def read(self) -> None:
        next(self._events)  # the stream's start
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return
        self._document.value = self._value(next(self._events), 1)
        next(self._events)  # the document's end
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self._refuse(event, "a file may contain only one document; `---` begins a second")

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, depth)
        self._count_values(1, event)
        if event.tag is not None:
            raise self._refuse(event, "tags are not allowed in a suite")
        if event.anchor is not None:
            self._anchors[event.anchor] = None  # still open: an alias inside it would be endless
        before, deepest, self._deepest = self._count, self._deepest, depth - 1
        value = self._content(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchor(value, self._count - before + 1, self._deepest - depth + 1)
        self._deepest = max(self._deepest, deepest)
        return value

    def _content(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        self._reach_depth(depth, event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(depth)
        return self._mapping(depth)

    def _scalar(self, event: Any) -> Any:
        if event.style:
            return event.value
        try:
            value = resolve(event.value)
        except ScalarError as error:
            raise self._refuse(event, str(error)) from None
        if is_boolean_like(event.value) and len(self._document.warnings) < MAX_WARNINGS:
            place = Location(self._document.file, *_position(event))
            message = f"`{event.value}` is text here; write true or false, or quote it"
            self._document.warnings.append(Problem(message, place))
        return value

    def _list(self, depth: int) -> list[Any]:
        values: list[Any] = []
        positions = self._document.positions[id(values)] = {}
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            positions[len(values)] = _position(event)
            values.append(self._value(event, depth + 1))
        return values

    def _mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        positions: dict[str | int, YamlPosition] = {}
        self._document.positions[id(values)] = positions
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event)
            if key in values:
                raise self._refuse(event, f"the key `{key[:60]}` appears twice, first in line {positions[key].line}")
            positions[key] = _position(event)
            values[key] = self._value(next(self._events), depth + 1)
        return values

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._refuse(event, "a key must be plain text")
        if event.tag is not None or event.anchor is not None:
            raise self._refuse(event, "a key can't have a tag or an anchor")
        if event.value == "<<" and not event.style:
            raise self._refuse(event, "merge keys (`<<`) are not supported; write the keys out")
        self._count_values(1, event)
        return str(event.value)

    def _reach_depth(self, depth: int, event: Any) -> None:
        if depth > MAX_DEPTH:
            raise self._refuse(event, f"values may be nested at most {MAX_DEPTH} levels deep")
        self._deepest = max(self._deepest, depth)

    def _alias(self, event: Any, depth: int) -> Any:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._refuse(event, f"a file may use at most {MAX_ALIASES:,} aliases")
        anchor = self._anchors.get(event.anchor)
        if anchor is None:
            raise self._refuse(event, "this alias has no anchor, or is inside it")
        self._count_values(anchor.size, event)
        self._reach_depth(depth + anchor.levels - 1, event)
        return anchor.value

    def _count_values(self, count: int, event: Any) -> None:
        self._count += count
        if self._count > MAX_VALUES:
            raise self._refuse(event, f"a file may contain at most {MAX_VALUES:,} values")

    def _refuse(self, event: Any, message: str) -> SuiteError:
        return _error(self._document, event.start_mark, message)


def _position(event: Any) -> YamlPosition:
    return YamlPosition(event.start_mark.line + 1, event.start_mark.column + 1)


_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)\Z", re.IGNORECASE)
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}
_BOOLEAN_WORDS = frozenset({"yes", "no", "on", "off", "true", "false"})
MAX_DIGITS = 18


class ScalarError(ValueError):
    """An invalid scalar."""


def resolve(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar. Raises ScalarError for numbers that are too long or not finite."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INT.match(text):
        if len(text) > MAX_DIGITS + 1:
            raise ScalarError(f"a whole number may have at most {MAX_DIGITS} digits; quote it if it is text")
        return int(text)
    if _FLOAT.match(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise ScalarError("this number is too large; quote it if it is text")
        return number
    if _NOT_FINITE.match(text):
        raise ScalarError("a number must be finite; quote it if it is text")
    return text


def is_boolean_like(text: str) -> bool:
    """Whether another YAML reader would take this text for a boolean."""
    return text.lower() in _BOOLEAN_WORDS and text not in _CONSTANTS
