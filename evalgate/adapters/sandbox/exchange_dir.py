"""The folder through which a judge apart is asked and answers; what it leaves there is not trusted."""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING

from evalgate.errors import OverLimit
from evalgate.models.run.chunks import Pieces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTION, ANSWER, READING, FILES = "question.json", "answer.json", "reading", "files"
LARGEST_ANSWER = 256_000_000
LARGEST_FILE = 600_000_000
BLOCK = 1 << 20
ASKER_READS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ExchangeDir:
    """Such a folder, new and empty. `user` is who answers there; None: who asks."""

    def __init__(self, folder: Path, user: int | None, group: int) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700)
        files = folder / FILES
        files.mkdir(mode=0o700)
        if user is not None:
            os.chown(folder.parent, -1, group)  # where downloads lie, which the judge reads
            folder.parent.chmod(0o750)
            os.chown(folder, user, group)
            os.chown(files, user, group)

    @property
    def path(self) -> str:
        """Where it lies."""
        return str(self._folder)

    def ask(self, question: bytes) -> None:
        """Leaves the question, before anybody else is at work here."""
        path = self._folder / QUESTION
        path.write_bytes(question)
        path.chmod(0o644)

    def answer(self) -> bytes | None:
        """What was answered, None where nothing was."""
        return self._read(ANSWER, LARGEST_ANSWER)

    def file(self, name: str) -> bytes | None:
        """One of the files that belong to the answer."""
        return self._read(f"{FILES}/{name}", LARGEST_FILE)

    def pieces(self, name: str) -> Pieces | None:
        """The same, for one that may be larger than memory should hold."""
        handle = self.open(name)
        if handle is None:
            return None
        with os.fdopen(handle, "rb") as stream:
            _bounded(os.fstat(stream.fileno()).st_size, LARGEST_FILE)
        return Pieces(partial(self._pieces, name))

    def _pieces(self, name: str) -> Iterator[bytes]:
        handle = self.open(name)
        if handle is None:
            return
        with os.fdopen(handle, "rb") as stream:
            while block := stream.read(BLOCK):
                yield block

    def open(self, name: str) -> int | None:
        """The same as an open file."""
        return self._open(f"{FILES}/{name}")

    def reading(self) -> str:
        """What was being read last, empty where that is not known."""
        from evalgate.adapters.sandbox.current_file import last_read

        handle = self._open(READING)
        if handle is None:
            return ""
        try:
            return last_read(handle)
        finally:
            os.close(handle)

    def _read(self, name: str, limit: int) -> bytes | None:
        handle = self._open(name)
        if handle is None:
            return None
        with os.fdopen(handle, "rb") as stream:
            content = stream.read(limit + 1)
        _bounded(len(content), limit)
        return content

    def _open(self, name: str) -> int | None:
        """A regular file and nothing else: no link, no device, nothing that lies elsewhere too."""
        handle = _opened(self._folder, name)
        if handle is None:
            return None
        found = os.fstat(handle)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            return handle
        os.close(handle)
        return None


def _bounded(size: int, limit: int) -> None:
    if size > limit:
        raise OverLimit("the judge answers with more than any run would leave")


def _opened(folder: Path, name: str) -> int | None:
    """Step by step, each without following a link: the judge may move what lies in its folder."""
    handle = None
    try:
        handle = os.open(folder, ASKER_READS | os.O_DIRECTORY)
        for step in name.split("/"):
            above, handle = handle, os.open(step, ASKER_READS, dir_fd=handle)
            os.close(above)
    except OSError:
        if handle is not None:
            os.close(handle)
        return None
    return handle
