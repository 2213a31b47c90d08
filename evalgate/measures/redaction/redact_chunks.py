"""Removes exact secrets from a JSON document that is too large for memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import remove_exact_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEAM = b'","'
"""Without a backslash before it, its first quote ends a text, so no value crosses its comma."""
ESCAPE = b"\\"
CUT_OFFSET = 2


def redact_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the redacted document in other chunks, split only where no secret can be split."""
    pending: list[bytes] = []
    tail = b""
    for chunk in chunks:
        at = _find_last_seam(tail + chunk)
        if at < 0:
            pending.append(chunk)
        else:
            document = b"".join((*pending, chunk))
            at += len(document) - len(tail) - len(chunk)
            yield remove_exact_secrets(document[:at])
            pending = [document[at:]]
        tail = pending[-1][-len(SEAM) :]
    yield remove_exact_secrets(b"".join(pending))


def _find_last_seam(text: bytes) -> int:
    """Returns the position after the comma of the last seam; negative without a seam."""
    at = text.rfind(SEAM)
    while at > 0 and text[at - 1 : at] == ESCAPE:
        at = text.rfind(SEAM, 0, at + len(SEAM) - 1)
    return at + CUT_OFFSET if at > 0 else -1
