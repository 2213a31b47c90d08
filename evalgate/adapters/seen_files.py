"""Files that were found once are not looked for again while a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files, FoundFile


class SeenFiles:
    """Other files, each pattern looked up once; see ports.Files."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._found: dict[tuple[str, str], Sequence[FoundFile]] = {}

    def expand(self, pattern: str, base: str) -> Sequence[FoundFile]:
        """Regular files that match, as they were found first."""
        key = pattern, base
        if key not in self._found:
            self._found[key] = self._files.expand(pattern, base)
        return self._found[key]

    def open(self, file: FoundFile) -> BinaryIO:
        """The file's bytes as a stream."""
        return self._files.open(file)

    def size(self, file: FoundFile) -> int:
        """Bytes of the file as it lies there."""
        return self._files.size(file)

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        """A whole file."""
        return self._files.read(path, limit, what=what)
