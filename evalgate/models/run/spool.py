"""Temporary storage for the bytes of a run until its results are written."""

from __future__ import annotations

from typing import Protocol


class Spool(Protocol):
    """Append-only storage of bytes with random access."""

    def put(self, content: bytes) -> int:
        """Appends the bytes and returns their start."""

    def get(self, start: int, size: int) -> bytes:
        """Returns `size` bytes from `start`."""


class MemorySpool:
    """A spool in memory, for a few trials."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = bytearray()

    def put(self, content: bytes) -> int:
        """See Spool."""
        start = len(self._kept)
        self._kept += content
        return start

    def get(self, start: int, size: int) -> bytes:
        """See Spool."""
        return bytes(self._kept[start : start + size])
