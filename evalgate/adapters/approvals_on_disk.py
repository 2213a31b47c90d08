"""A project's approvals where the workspace is the project's own, or only to show what it proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.approval import FILE, MOST_BYTES, ApprovalFile

if TYPE_CHECKING:
    from evalgate.ports import Files


class ApprovalsOnDisk:
    """Implements `ApprovalSource` with the file in the folder that `files` start from."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def read(self) -> ApprovalFile | None:
        """The file, None where there is none; raises InvalidInput."""
        if not self._files.expand(FILE, "."):
            return None
        return ApprovalFile(FILE, self._files.read(FILE, MOST_BYTES, what="the file of approvals"))
