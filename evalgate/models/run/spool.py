"""Where bytes of a run are kept until its results are written."""

from __future__ import annotations

from typing import Protocol


class Spool(Protocol):
    """A place for bytes, from which any of them can be had again."""

    def put(self, content: bytes) -> int:
        """Keeps the bytes; where they begin."""

    def get(self, start: int, size: int) -> bytes:
        """So many bytes that were put there."""


class MemorySpool:
    """A shelf for a few trials."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = bytearray()

    def put(self, content: bytes) -> int:
        """See Shelf."""
        start = len(self._kept)
        self._kept += content
        return start

    def get(self, start: int, size: int) -> bytes:
        """See Shelf."""
        return bytes(self._kept[start : start + size])
