"""Text as a person sees it: controls made visible, invisible characters and terminal colours taken out."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

MAX_MARKS = 4

# Format characters (Cf) and what else leaves no mark on a screen: fillers, variation selectors, tags.
_INVISIBLE = (
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_BREAKS = "\r\n|[\r\v\f\x85\u2028\u2029]"
_CONTROLS = "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
_COLOURS = "(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"
# Combining marks are neither word characters nor blanks; symbols are let through by the closer look.
_MARKS = "[^\\w\\s\x00-\u02ff]{5,}"

_ASCII = bytes(range(128))
_FEW = 60
"""Bytes of characters that are not ASCII and worth remembering."""

# Compiled on first need: most texts are plain ASCII and most runs start, judge and end without these.
_compiled = cache(re.compile)


def without_invisible(text: str) -> str:
    """The text without characters that nobody can see."""
    return text if text.isascii() or hides_nothing(text) else _compiled(_INVISIBLE).sub("", text)


def hides_nothing(text: str) -> bool:
    """Whether every character can be seen."""
    # The pattern takes its time with every character, few of a text are not ASCII, and mostly the same.
    rare = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return _all_seen(rare) if len(rare) <= _FEW else _all_seen.__wrapped__(rare)


@lru_cache(maxsize=1_024)
def _all_seen(characters: bytes) -> bool:
    return _compiled(_INVISIBLE).search(characters.decode("utf-8", "surrogatepass")) is None


def visible(text: str) -> str:
    """The text with every break as a line feed, no control but that and the tab, and nothing invisible.

    Controls, lone surrogates and non-characters become U+FFFD; terminal colours vanish; of more than four
    combining marks in a row four stay.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _compiled(_COLOURS).sub("", text)
    text = _compiled(_CONTROLS).sub("\ufffd", _compiled(_BREAKS).sub("\n", text))
    if text.isascii():
        return text
    return _compiled(_MARKS).sub(_few_marks, without_invisible(text))


def _few_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in run.group():
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)
