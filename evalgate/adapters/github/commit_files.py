"""Reads a file of the repository from a commit."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING
from urllib.parse import quote

from evalgate.adapters.github.responses import as_int, as_text
from evalgate.errors import Location, NotFound, OverLimit, Problem, Unreachable
from evalgate.measures.values.dig import dig
from evalgate.models.approvals.approval import FILE, MAX_FILE_BYTES, ApprovalFile
from evalgate.models.github import MAX_TEMPLATE_BYTES, TemplateFile

if TYPE_CHECKING:
    from evalgate.adapters.github.client import Client

SHORT_SHA = 7


def read_file_in_commit(client: Client, path: str, commit: str, *, limit: int, what: str) -> bytes:
    """Reads at most `limit` bytes; `what` names the file in errors. Needs `contents: read`.

    Raises NotFound, OverLimit or Unreachable.
    """
    try:
        answer = client.get(f"/contents/{quote(path)}", ref=commit)
    except NotFound:
        raise NotFound(f"{path} is not in commit {commit[:SHORT_SHA]}") from None
    if dig(answer, "type") != "file":
        raise NotFound(f"{path} is not a file in commit {commit[:SHORT_SHA]}")
    if (as_int(dig(answer, "size")) or 0) > limit:
        raise OverLimit(Problem(f"{what} is larger than {limit:,} bytes", Location(path)))
    try:
        return base64.b64decode(as_text(dig(answer, "content")))
    except binascii.Error:
        raise Unreachable("unexpected response from GitHub") from None


class ApprovalsInCommit:
    """Implements `ApprovalSource` with the file in the repository's root. Needs `contents: read`."""

    def __init__(self, client: Client, commit: str) -> None:
        self._client = client
        self._commit = commit

    def read(self) -> ApprovalFile | None:
        """The file, None if the commit has no such file; raises Unreachable or InvalidInput."""
        try:
            content = read_file_in_commit(
                self._client, FILE, self._commit, limit=MAX_FILE_BYTES, what="the approvals file"
            )
        except NotFound:
            return None
        return ApprovalFile(FILE, content)


class TemplateInCommit:
    """Implements `TemplateSource` with one file of the repository. Needs `contents: read`."""

    def __init__(self, client: Client, path: str, commit: str) -> None:
        self._client = client
        self._path = path
        self._commit = commit

    def read(self) -> TemplateFile:
        """Reads the template; raises Unreachable or InvalidInput."""
        content = read_file_in_commit(
            self._client, self._path, self._commit, limit=MAX_TEMPLATE_BYTES, what="the template"
        )
        return TemplateFile.from_bytes(self._path, content)
