"""Reads a project's template from a commit, so that a pull request can't change its own comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.github.commit_files import file_in_commit
from evalgate.models.github.template_file import MOST_BYTES, TemplateFile

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
        content = file_in_commit(
            self._client, self._path, self._commit, limit=MOST_BYTES, what="the template"
        )
        return TemplateFile.of(self._path, content)
