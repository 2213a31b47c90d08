"""A spool for what a run found: in memory while small, then in an unnamed temporary file."""

from __future__ import annotations

import os

from evalgate.errors import report_full_temp_folder

IN_MEMORY = 4 << 20
BLOCK = 1 << 18


class DiskSpool:
    """Implements `Spool`. The temporary file has no name and disappears with the spool.

    Raises SettingError if the disk is full.
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._recent = bytearray()
        self._written = 0
        self._handle: int | None = None

    def __del__(self) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def put(self, content: bytes) -> int:
        """Appends the bytes; returns their offset."""
        start = self._written + len(self._recent)
        self._recent += content
        if len(self._recent) > (self._in_memory if self._handle is None else BLOCK):
            self._write()
        return start

    def get(self, start: int, size: int) -> bytes:
        """Reads `size` bytes from an offset."""
        if start >= self._written:
            start -= self._written
            return bytes(self._recent[start : start + size])
        if self._handle is None:
            raise RuntimeError("nothing is written yet")
        return os.pread(self._handle, size, start)

    @staticmethod
    def _open_file() -> int:
        import tempfile  # rarely needed

        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())

    def _write(self) -> None:
        with report_full_temp_folder():
            handle = self._handle = self._open_file() if self._handle is None else self._handle
            left = memoryview(self._recent)
            while left:
                left = left[os.write(handle, left) :]
        self._written += len(self._recent)
        self._recent = bytearray()
