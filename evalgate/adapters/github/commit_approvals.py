"""Reads a project's approvals from a commit, so that a pull request can't approve its own failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.github.commit_files import read_file_in_commit
from evalgate.errors import NotFound
from evalgate.models.approvals.approval import FILE, MAX_BYTES, ApprovalFile

if TYPE_CHECKING:
    from evalgate.adapters.github.client import Client


class ApprovalsInCommit:
    """Implements `ApprovalSource` with the file in the repository's root. Needs `contents: read`."""

    def __init__(self, client: Client, commit: str) -> None:
        self._client = client
        self._commit = commit

    def read(self) -> ApprovalFile | None:
        """The file, None if the commit has no such file; raises Unreachable or InvalidInput."""
        try:
            content = read_file_in_commit(
                self._client, FILE, self._commit, limit=MAX_BYTES, what="the file of approvals"
            )
        except NotFound:
            return None
        return ApprovalFile(FILE, content)
