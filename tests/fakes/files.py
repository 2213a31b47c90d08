"""Files in memory, for readers that must not need a disk."""

from __future__ import annotations

import io
from typing import BinaryIO

from evalgate.ports import FoundFile


class MemoryFiles:
    """Answers every pattern that is a known path, or a prefix of some."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self._contents = contents

    def expand(self, pattern: str, base: str) -> list[FoundFile]:
        prefix = f"{base}/{pattern}" if base else pattern
        found = sorted(path for path in self._contents if path.startswith(prefix))
        return [FoundFile(path, path.removeprefix(prefix).lstrip("/") or path, path) for path in found]

    def open(self, file: FoundFile) -> BinaryIO:
        return io.BytesIO(self._contents[file.real])

    def read(self, path: str, limit: int, *, what: str) -> bytes:
        return self._contents[path][: limit + 1]
