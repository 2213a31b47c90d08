"""Reads a document as a person or a decoder would: without invisible characters, and with escapes decoded."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import NamedTuple

from evalgate.measures.text.plain_text import INVISIBLE, remove_invisible

_HEX = "[0-9a-fA-F]"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# After a backslash: JSON, also quoted inside of JSON. Only the first of a run counts, so that no run is read twice.
_PAIR = rf"u[dD][89abAB]{_HEX}{{2}}\\++u[dD][c-fC-F]{_HEX}{{2}}"
_ESCAPED = rf"(?<=\\)(?<!\\\\)(?:[bf]|\\*+(?:{_PAIR}|u{_HEX}{{4}}|/))"
_PERCENT = f"(?<=%)(?:[0-7]{_HEX}|[89a-fA-F]{_HEX}(?:%[89a-fA-F]{_HEX})*)"
_SIGNS = (b"%", b"\\u", b"\\/", b"\\b", b"\\f")
_CODE = re.compile(rf"u({_HEX}{{4}})")

_compile = cache(re.compile)
_find_control = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]").search


class PlainText(NamedTuple):
    """A text without what hides it: which parts of it were decoded, and where those stand in the document."""

    text: str
    starts: list[int]
    ends: list[int]
    origins: list[tuple[int, int]]

    def find_origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text stands in the document, with all that hides it."""
        first, last = bisect_right(self.ends, start), bisect_left(self.ends, end)
        begins_within = first < len(self.starts) and self.starts[first] <= start
        ends_within = last < len(self.starts) and self.starts[last] < end
        return (
            self.origins[first][0] if begins_within else self._shift(start, first),
            self.origins[last][1] if ends_within else self._shift(end, last),
        )

    def _shift(self, place: int, decoded: int) -> int:
        """Where a place stands that comes after so many decoded parts, and in none."""
        return place if not decoded else place - self.ends[decoded - 1] + self.origins[decoded - 1][1]


def may_hide(document: bytes) -> bool:
    """Whether a document has anything that hides text: a check that costs little."""
    return any(sign in document for sign in _SIGNS) or not document.isascii() or _find_control(document) is not None


def uncover(document: str) -> PlainText:
    """The text without invisible and control characters, with escapes of JSON and percent signs decoded."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    origins: list[tuple[int, int]] = []
    length = at = 0
    for hidden in _pattern(document).finditer(document):
        decoded = _decode(hidden[0])
        length += hidden.start() - at
        parts += (document[at : hidden.start()], decoded)
        starts.append(length)
        length += len(decoded)
        ends.append(length)
        origins.append(hidden.span())
        at = hidden.end()
    parts.append(document[at:])
    return PlainText("".join(parts), starts, ends, origins)


def _pattern(document: str) -> re.Pattern[str]:
    """A pattern of what may hide text in this document; it begins with one class, which makes the search fast."""
    unseen = _CONTROLS + (INVISIBLE[1:-1] if remove_invisible(document) is not document else "")
    return _compile(rf"[%\\{unseen}](?:{_ESCAPED}|{_PERCENT}|(?<=[{unseen}]))")


def _decode(hidden: str) -> str:
    if hidden[0] == "%":
        text = bytes.fromhex(hidden.replace("%", "")).decode("utf-8", "replace")
    elif hidden[0] == "\\":
        codes = _CODE.findall(hidden)
        text = bytes.fromhex("".join(codes)).decode("utf-16-be", "replace") if codes else hidden[-1].strip("bf")
    else:
        return ""
    return _compile(f"[{_CONTROLS}]").sub("", remove_invisible(text))
