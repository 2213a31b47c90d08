"""Fences untrusted text for a reader that follows instructions: a coding agent."""

from __future__ import annotations

import hashlib
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from evalgate.reporting.text.escaping import GUTTER, to_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN, END = "BEGIN UNTRUSTED", "END UNTRUSTED"
NONCE_LENGTH = 32
"""Hexadecimal digits of a nonce: 128 bits."""


class Entry(NamedTuple):
    """One line of a fence: words of EvalGate, and an untrusted text, of which at most `limit` characters are shown."""

    label: str
    text: str
    limit: int = 200


class Fence(NamedTuple):
    """Fenced lines, and the nonce in the first and the last of them."""

    nonce: str
    lines: tuple[str, ...]


def build_fence(entries: Sequence[Entry]) -> Fence:
    """Fences the entries, a line each. Equal entries give equal bytes.

    No text leaves its fence. It is one line behind a gutter, so it begins no line; and the nonce is nowhere in it.
    Nor can the author of a text put it there, although no secret goes into it: it is the SHA-256 of all fenced lines,
    so whoever adds a nonce to a text changes the nonce, and a text that holds its own would be found after 2^116 tries
    (128 bits, of which 4,000 characters try fewer than 2^12 at once). Were one found all the same, the digest of the
    next number and the lines takes its place.
    """
    lines = [f"{GUTTER}{each.label}: {to_one_line(each.text, each.limit)}" for each in entries]
    nonce = _choose_nonce("\n".join(lines))
    return Fence(nonce, (f"{BEGIN} {nonce}", *lines, f"{END} {nonce}"))


def _choose_nonce(text: str, digits: int = NONCE_LENGTH) -> str:
    """The first digest that is not in the text, in letters of either case."""
    folded = text.casefold()
    found = (hashlib.sha256(f"{number}\n{text}".encode()).hexdigest()[:digits] for number in count())
    return next(nonce for nonce in found if nonce not in folded)
