"""The folder for exchanging the request and the answer with a sandboxed judge, whose files are untrusted."""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING

from evalgate.errors import OverLimit
from evalgate.models.run.chunks import ChunkedText

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTION, ANSWER, READING, FILES = "question.json", "answer.json", "reading", "files"
LARGEST_ANSWER = 256_000_000
LARGEST_FILE = 600_000_000
BLOCK = 1 << 20
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ExchangeDir:
    """A new exchange folder. `user` is the judge's user, None for the user of this process."""

    def __init__(self, folder: Path, user: int | None, group: int) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700)
        files = folder / FILES
        files.mkdir(mode=0o700)
        if user is not None:
            os.chown(folder.parent, -1, group)  # holds downloads, which the judge reads
            folder.parent.chmod(0o750)
            os.chown(folder, user, group)
            os.chown(files, user, group)

    @property
    def path(self) -> str:
        """The folder's path."""
        return str(self._folder)

    def write_request(self, request: bytes) -> None:
        """Writes the request, before the judge has access."""
        path = self._folder / QUESTION
        path.write_bytes(request)
        path.chmod(0o644)

    def read_answer(self) -> bytes | None:
        """Reads the answer, None if the judge wrote no answer."""
        return self._read(ANSWER, LARGEST_ANSWER)

    def read_file(self, name: str) -> bytes | None:
        """Reads a file that belongs to the answer."""
        return self._read(f"{FILES}/{name}", LARGEST_FILE)

    def read_pieces(self, name: str) -> ChunkedText | None:
        """Reads such a file in pieces, if it may be too large for memory."""
        handle = self.open_file(name)
        if handle is None:
            return None
        with os.fdopen(handle, "rb") as stream:
            _require_size(os.fstat(stream.fileno()).st_size, LARGEST_FILE)
        return ChunkedText(partial(self._iterate_pieces, name))

    def _iterate_pieces(self, name: str) -> Iterator[bytes]:
        handle = self.open_file(name)
        if handle is None:
            return
        with os.fdopen(handle, "rb") as stream:
            while block := stream.read(BLOCK):
                yield block

    def open_file(self, name: str) -> int | None:
        """Opens such a file."""
        return self._open(f"{FILES}/{name}")

    def last_read_file(self) -> str:
        """The file that the judge read last, empty if unknown."""
        from evalgate.adapters.sandbox.current_file import read_note

        handle = self._open(READING)
        if handle is None:
            return ""
        try:
            return read_note(handle)
        finally:
            os.close(handle)

    def _read(self, name: str, limit: int) -> bytes | None:
        handle = self._open(name)
        if handle is None:
            return None
        with os.fdopen(handle, "rb") as stream:
            content = stream.read(limit + 1)
        _require_size(len(content), limit)
        return content

    def _open(self, name: str) -> int | None:
        """Opens a regular file only: no link, no device, no file with several hard links."""
        handle = _open_path(self._folder, name)
        if handle is None:
            return None
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            return handle
        os.close(handle)
        return None


def _require_size(size: int, limit: int) -> None:
    if size > limit:
        raise OverLimit("the judge's response is larger than the maximum")


def _open_path(folder: Path, name: str) -> int | None:
    """Opens each path component without following links: the judge may move files in its folder."""
    handle = None
    try:
        handle = os.open(folder, READ_FLAGS | os.O_DIRECTORY)
        for step in name.split("/"):
            parent, handle = handle, os.open(step, READ_FLAGS, dir_fd=handle)
            os.close(parent)
    except OSError:
        if handle is not None:
            os.close(handle)
        return None
    return handle
