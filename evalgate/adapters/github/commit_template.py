"""Reads a project's template from a commit, so that a pull request can't change its own comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.github.commit_files import read_file_in_commit
from evalgate.models.github.template_file import MAX_BYTES, TemplateFile

if TYPE_CHECKING:
    from evalgate.adapters.github.client import Client


class TemplateInCommit:
    """Implements `TemplateSource` with one file of the repository. Needs `contents: read`."""

    def __init__(self, client: Client, path: str, commit: str) -> None:
        self._client = client
        self._path = path
        self._commit = commit

    def read(self) -> TemplateFile:
        """Reads the template; raises Unreachable or InvalidInput."""
        content = read_file_in_commit(
            self._client, self._path, self._commit, limit=MAX_BYTES, what="the template"
        )
        return TemplateFile.from_bytes(self._path, content)
