"""Server-sent events: splits a stream after its blank lines, and reads the data of an event.

Lines end with CR, LF or both, and with nothing else (WHATWG HTML, "Interpreting an event stream"): `str.splitlines`
also splits at U+0085, U+2028, U+2029 and four control characters, which texts of models contain.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_BLANK_LINE = re.compile(rb"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")
_LONGEST_END = len(b"\r\n\r\n")
BYTE_ORDER_MARK = "\ufeff".encode()
DATA, NAME = "data", "event"
FIRST_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""What a stream begins with; some servers give it another content type."""


class Line(NamedTuple):
    """A line of an event and what ends it: CR, LF, CRLF, or nothing for the last one of a stream that broke off."""

    text: str
    end: str

    @property
    def data(self) -> str | None:
        """Its part of the event's data; None for a line of another field, and for a comment."""
        name, _, value = self.text.partition(":")
        return value.removeprefix(" ") if name == DATA else None


class EventSplitter:
    """Splits bytes, as they come, after each blank line: into the same events however they come."""

    def __init__(self) -> None:
        self._pending = bytearray()

    @property
    def rest(self) -> bytes:
        """What came after the last blank line; the last event of a stream that ends with CR is in it."""
        return bytes(self._pending)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields each event that is complete now, with its blank line; a CR at the end waits for what follows it."""
        searched = max(0, len(self._pending) - _LONGEST_END)
        self._pending += data
        found = _BLANK_LINE.finditer(self._pending, self._skip_half_end(searched))
        ends = [blank.end() for blank in found]
        if ends and ends[-1] == len(self._pending) and self._pending.endswith(b"\r"):
            ends.pop()
        for start, end in pairwise([0, *ends]):
            yield bytes(self._pending[start:end])
        del self._pending[: ends[-1] if ends else 0]

    def _skip_half_end(self, at: int) -> int:
        """The position, or the one before it if it is between CR and LF."""
        return at - 1 if at and self._pending[at - 1 : at + 1] == b"\r\n" else at


def split_lines(event: str) -> list[Line]:
    """The lines of an event."""
    return [Line(*found) for found in _LINE.findall(event)[:-1]]  # the last match is the empty one at the end


def read_data(event: str) -> str | None:
    """The data of an event, its lines joined; None without any, as for a comment that keeps a connection open."""
    found = [part for line in split_lines(event) if (part := line.data) is not None]
    return "\n".join(found) if found else None


def read_name(event: str) -> str | None:
    """What an event is called; most have no name, or that of the type in their data."""
    names = (line.text.partition(":") for line in split_lines(event))
    return next((value.strip() for field, _, value in names if field == NAME), None)


def split_events(body: bytes) -> Iterator[bytes]:
    """The events of a whole stream; the last one may lack its blank line."""
    splitter = EventSplitter()
    yield from splitter.feed(body)
    if splitter.rest:
        yield splitter.rest


def begins_like_stream(body: bytes) -> bool:
    """Whether a body is a stream, whatever its content type."""
    return body.removeprefix(BYTE_ORDER_MARK).startswith(FIRST_FIELDS)
