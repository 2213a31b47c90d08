"""Reads a project's approvals from the workspace: a trusted one, or a pull request's only to show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.adapters.file_writer import open_to_write
from evalgate.errors import SettingError
from evalgate.models.approvals.approval import FILE, MAX_FILE_BYTES, ApprovalFile

if TYPE_CHECKING:
    from evalgate.ports import Files


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
