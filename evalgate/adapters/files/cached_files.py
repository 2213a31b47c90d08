"""Files that were found once are not looked for again while a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files, FoundFile


class CachedFiles:
    """Other files, each pattern looked up once; see ports.Files. It knows how far the reading has come."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Sequence[FoundFile]] = {}
        self._sizes: dict[str, int] = {}
        self._read = 0
        self._here: tuple[str, BinaryIO] | None = None

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """Regular files that match, as they were found first."""
        key = pattern, base
        if key not in self._found:
            self._found[key] = self._files.expand(pattern, base)
        return self._found[key]

    def open(self, file: FoundFile) -> BinaryIO:
        """The file's bytes as a stream."""
        if self._here is not None and self._here[0] != file.real:
            self._read += self._sizes.get(self._here[0], 0)
        stream = self._files.open(file)
        self._here = file.real, stream
        return stream

    def share(self) -> float | None:
        """How much of what was found has been read, None before anything was."""
        for found in self._found.values():
            for file in found:
                if file.real not in self._sizes:
                    self._sizes[file.real] = self._files.size(file)
        whole = sum(self._sizes.values())
        if not whole or self._here is None:
            return None
        name, stream = self._here
        here = self._sizes.get(name, 0) if stream.closed else stream.tell()
        return min(1.0, (self._read + here) / whole)

    def size(self, file: FoundFile) -> int:
        """Bytes of the file as it lies there."""
        return self._files.size(file)

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """A whole file."""
        return self._files.read(path, limit, what=what)
