"""A place for what a run found: in memory while it is little, else in a file that nobody else can see."""

from __future__ import annotations

import os

IN_MEMORY = 4 << 20
BLOCK = 1 << 18


class Shelf:
    """See models.trials.Shelf. The file has no name and goes with the shelf."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._recent = bytearray()
        self._written = 0
        self._handle: int | None = None

    def __del__(self) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def put(self, content: bytes) -> int:
        """Keeps the bytes; where they begin."""
        start = self._written + len(self._recent)
        self._recent += content
        if len(self._recent) > (self._in_memory if self._handle is None else BLOCK):
            self._write()
        return start

    def get(self, start: int, size: int) -> bytes:
        """So many bytes that were put there."""
        if start >= self._written:
            start -= self._written
            return bytes(self._recent[start : start + size])
        if self._handle is None:
            raise RuntimeError("nothing is written yet")
        return os.pread(self._handle, size, start)

    def _write(self) -> None:
        if self._handle is None:
            import tempfile  # few runs find so much

            with tempfile.TemporaryFile() as file:
                self._handle = os.dup(file.fileno())
        left = memoryview(self._recent)
        while left:
            left = left[os.write(self._handle, left) :]
        self._written += len(self._recent)
        self._recent = bytearray()
