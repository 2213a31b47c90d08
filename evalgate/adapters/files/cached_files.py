"""Caches found files during a run and measures how much of them has been read."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files, FoundFile


class CachedFiles:
    """Wraps `Files` and expands each pattern only once; also knows how much has been read."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Sequence[FoundFile]] = {}
        self._sizes: dict[str, int] = {}
        self._read = 0
        self._current: tuple[str, BinaryIO] | None = None

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """The matching regular files, as first found."""
        key = pattern, base
        if key not in self._found:
            self._found[key] = self._files.expand(pattern, base)
        return self._found[key]

    def open(self, file: FoundFile) -> BinaryIO:
        """Opens the file as a byte stream."""
        if self._current is not None and self._current[0] != file.real:
            self._read += self._sizes.get(self._current[0], 0)
        stream = self._files.open(file)
        self._current = file.real, stream
        return stream

    def read_fraction(self) -> float | None:
        """The fraction of the found bytes that has been read, None before the first read."""
        for found in self._found.values():
            for file in found:
                if file.real not in self._sizes:
                    self._sizes[file.real] = self._files.size(file)
        total = sum(self._sizes.values())
        if not total or self._current is None:
            return None
        name, stream = self._current
        current_bytes = self._sizes.get(name, 0) if stream.closed else stream.tell()
        return min(1.0, (self._read + current_bytes) / total)

    def size(self, file: FoundFile) -> int:
        """The file's size on disk in bytes."""
        return self._files.size(file)

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """Reads a whole file."""
        return self._files.read(path, limit, what=what)
