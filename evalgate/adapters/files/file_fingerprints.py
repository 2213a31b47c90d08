"""Computes a fingerprint of the files that produced a trace; it changes with any of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from evalgate.errors import Location, OverLimit, Problem, RefusedPath, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files, FoundFile

MAX_BYTES = 500_000_000
BLOCK = 1 << 20
GLOB_HINT = "globs are relative to the working directory"


class FileFingerprints:
    """Implements `Fingerprints`: sha256 over sorted paths (from the working directory) and each file's sha256.

    Only names and contents count: no times, no modes, no git.
    """

    def __init__(self, files: Files, max_bytes: int = MAX_BYTES) -> None:
        self._files = files
        self._bytes_left = max_bytes
        self._max_bytes = max_bytes

    def compute_fingerprint(self, globs: Sequence[str]) -> str:
        """The fingerprint of the matching files; raises InvalidInput, also for a glob without a match."""
        self._bytes_left = self._max_bytes
        found: dict[str, FoundFile] = {}
        for pattern in globs:
            matches = self._files.expand(pattern, ".")
            if not matches:
                raise SettingError(Problem(f"no file matches {pattern!r}", None, GLOB_HINT))
            found.update((file.path, file) for file in matches)
        digest = hashlib.sha256()
        for path in sorted(found):
            digest.update(f"{self._digest(found[path])}  {path}\n".encode())
        return digest.hexdigest()

    def _digest(self, file: FoundFile) -> str:
        digest = hashlib.sha256()
        try:
            with self._files.open(file) as stream:
                while block := stream.read(BLOCK):
                    self._bytes_left -= len(block)
                    if self._bytes_left < 0:
                        raise OverLimit(f"the watched files are larger than {self._max_bytes:,} bytes")
                    digest.update(block)
        except OSError:
            raise RefusedPath(Problem("the file can't be read", Location(file.path))) from None
        return digest.hexdigest()
