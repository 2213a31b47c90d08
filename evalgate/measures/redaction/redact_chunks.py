"""Removes exact secrets from a JSON document that is too large for memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import without_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEAM = b'","'
"""Without a backslash before it, its first quote ends a text, so no value crosses its comma."""
BEFORE = b"\\"
CUT = 2


def clean_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the redacted document in other chunks, split only where no secret can be split."""
    held: list[bytes] = []
    tail = b""
    for piece in pieces:
        at = _last_seam(tail + piece)
        if at < 0:
            held.append(piece)
        else:
            together = b"".join((*held, piece))
            at += len(together) - len(tail) - len(piece)
            yield without_hidden(together[:at])
            held = [together[at:]]
        tail = held[-1][-len(SEAM) :]
    yield without_hidden(b"".join(held))


def _last_seam(text: bytes) -> int:
    """Returns the position after the comma of the last seam; negative if there is none."""
    at = text.rfind(SEAM)
    while at > 0 and text[at - 1 : at] == BEFORE:
        at = text.rfind(SEAM, 0, at + len(SEAM) - 1)
    return at + CUT if at > 0 else -1
