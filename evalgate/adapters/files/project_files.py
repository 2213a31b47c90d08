"""Reads the approvals and the template of a project, and computes fingerprints of its files."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.adapters.file_writer import open_to_write
from evalgate.errors import Location, OverLimit, Problem, RefusedPath, SettingError
from evalgate.models.approvals.approval import FILE, MAX_FILE_BYTES, ApprovalFile
from evalgate.models.comparison.weakening import WatchedFiles
from evalgate.models.github import MAX_TEMPLATE_BYTES, TemplateFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports import Files, FoundFile


class LocalApprovals:
    """Implements `ApprovalSource` with the file in the base folder of `files`."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def read(self) -> ApprovalFile | None:
        """The file, None if it does not exist; raises InvalidInput."""
        if not self._files.expand(FILE, "."):
            return None
        return ApprovalFile(FILE, self._files.read(FILE, MAX_FILE_BYTES, what="the approvals file"))


class LocalApprovalsFile:
    """Replaces the approvals file in a shell's folder, atomically."""

    def __init__(self, folder: str) -> None:
        self._target = Path(folder) / FILE

    def replace(self, expected: bytes | None, content: bytes) -> None:
        """Writes the file if its content is still `expected` (None: it did not exist).

        Raises SettingError if it changed, or if writing fails.
        """
        try:
            with open_to_write(str(self._target)) as stream:
                stream.write(content)
                current = self._target.read_bytes() if self._target.exists() else None
                if current != expected:
                    raise SettingError(f"{FILE} has changed in the meantime: try again")
        except OSError as error:
            raise SettingError(f"can't write {FILE}: {error.strerror or 'unknown error'}") from None


class LocalTemplate:
    """Implements `TemplateSource` with a file of the workspace."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path

    def read(self) -> TemplateFile:
        """Reads the template; raises InvalidInput."""
        return TemplateFile.from_bytes(
            self._path, self._files.read(self._path, MAX_TEMPLATE_BYTES, what="the template")
        )


MAX_BYTES = 500_000_000
BLOCK = 1 << 20
GLOB_HINT = "globs are relative to the working directory"


class FileFingerprints:
    """Implements `Fingerprints`: sha256 over sorted paths (from the working directory) and each file's sha256.

    Only names and contents count: no times, no modes, no git. The content of a link to nothing is where it leads; in
    a job, every link is refused.
    """

    def __init__(self, files: Files, max_bytes: int = MAX_BYTES) -> None:
        self._files = files
        self._bytes_left = max_bytes
        self._max_bytes = max_bytes

    def compute_fingerprint(self, globs: Sequence[str]) -> str:
        """The fingerprint of the matching files; raises InvalidInput, also for a glob without a match."""
        return self.read_watched(globs).fingerprint

    def read_watched(self, globs: Sequence[str]) -> WatchedFiles:
        """The matching files and their fingerprint; raises the same."""
        self._bytes_left = self._max_bytes
        found: dict[str, FoundFile] = {}
        for pattern in globs:
            matches = self._files.expand(pattern, ".")
            if not matches:
                raise SettingError(Problem(f"no file matches {pattern!r}", None, GLOB_HINT))
            found.update((file.path, file) for file in matches)
        digests = {path: self._digest(found[path]) for path in sorted(found)}
        lines = "".join(f"{digest}  {path}\n" for path, digest in digests.items())
        return WatchedFiles(hashlib.sha256(lines.encode()).hexdigest(), digests)

    def _digest(self, file: FoundFile) -> str:
        target = _read_dead_link(file.real)
        digest = hashlib.sha256(b"" if target is None else b"link to " + target)
        if target is not None:
            return digest.hexdigest()
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


DEAD = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


def _read_dead_link(path: str) -> bytes | None:
    """Where a link to nothing leads, as there are in folders of packages; None for any other entry."""
    try:
        Path(path).stat()
    except OSError as error:
        return os.fsencode(Path(path).readlink()) if error.errno in DEAD and Path(path).is_symlink() else None
    return None
