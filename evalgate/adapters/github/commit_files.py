"""Reads a file of the repository from a commit."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING
from urllib.parse import quote

from evalgate.adapters.github.responses import as_int, as_text
from evalgate.errors import Location, NotFound, OverLimit, Problem, Unreachable
from evalgate.measures.values.nested import dig

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
        raise NotFound(f"{path} is no file in commit {commit[:SHORT_SHA]}")
    if (as_int(dig(answer, "size")) or 0) > limit:
        raise OverLimit(Problem(f"{what} is larger than {limit:,} bytes", Location(path)))
    try:
        return base64.b64decode(as_text(dig(answer, "content")))
    except binascii.Error:
        raise Unreachable("GitHub's answer is not as promised") from None
