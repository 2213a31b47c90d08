"""The first line of a suite by which editors find its schema, without a network: a path to a file beside it."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from evalgate.adapters.suites import MAX_BYTES

if TYPE_CHECKING:
    from evalgate.ports import Files

FOLDER = ".schema"
"""The folder of the schemas, in the suite's folder or above it."""
_HEADER = re.compile(r"^#[ \t]*yaml-language-server:[^\r\n]*", re.MULTILINE)
_FIRST_COMMENTS = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$))*")
MARK = "\ufeff"


def find_schema(files: Files, path: str, kind: str) -> str | None:
    """The way from a file to the nearest schema of its kind, up to the working directory; None without one."""
    folder, way = posixpath.dirname(path), ""
    while True:
        if files.expand(posixpath.join(FOLDER, f"{kind}.json"), folder or "."):
            return f"{way}{FOLDER}/{kind}.json"
        if not folder or folder.startswith(("/", "..")):
            return None
        folder, way = posixpath.dirname(folder), f"../{way}"


def change_header(files: Files, path: str, schema: str) -> bytes | None:
    """The file with the line that names this schema, in place of one that names another; None if it has it.

    Everything else stays as it is: the byte order mark, line ends and other comments.
    """
    content = files.read(path, MAX_BYTES, what="suite")
    text = content.decode("utf-8")
    line = f"# yaml-language-server: $schema={schema}"
    mark, body = (MARK, text[1:]) if text.startswith(MARK) else ("", text)
    comments = _FIRST_COMMENTS.match(body)
    present = _HEADER.search(body, 0, comments.end() if comments else 0)
    if present:
        changed = f"{body[: present.start()]}{line}{body[present.end() :]}"
    else:
        line_end = "\r\n" if "\r\n" in body else "\n"
        changed = f"{line}{line_end}{body}"
    new = f"{mark}{changed}".encode()
    return None if new == content else new
