"""Notes which file a process reads, so that its parent can name the file if the process is killed."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.ports import Progress

LONGEST = 1_000


class CurrentFileNote:
    """Writes the file that is being read to an open file of the parent process; not active at first."""

    def __init__(self) -> None:
        self._handle: int | None = None

    def write_to(self, handle: int) -> None:
        """Starts writing to an open file."""
        self._handle = handle

    def __call__(self, path: str) -> None:
        """Notes that `path` is being read."""
        self._write(path, 0)

    def wrap_progress(self, progress: Progress) -> Progress:
        """The same progress; if notes are active, it also notes the suite whose traces are read."""
        return progress if self._handle is None else _NotingProgress(progress, self._write)

    def _write(self, text: str, offset: int) -> None:
        if self._handle is not None:
            with suppress(OSError):  # on a full disk an error about the limits names no file
                os.pwrite(self._handle, text.encode(errors="replace")[:LONGEST].ljust(LONGEST, b"\0"), offset)


class _NotingProgress:
    """Progress that also notes each suite."""

    def __init__(self, progress: Progress, write: Callable[[str, int], None]) -> None:
        self._write = write
        self.advance, self.finish, self._begin = progress.advance, progress.finish, progress.begin

    def begin(self, suite: str) -> None:
        self._write(suite, LONGEST)
        self._begin(suite)


def read_note(handle: int) -> str:
    """The file noted last and the suite it was read for; empty if nothing was noted."""
    from evalgate.reporting.text.escaping import to_one_line

    noted = (os.pread(handle, LONGEST, pos).rstrip(b"\0").decode(errors="replace") for pos in (0, LONGEST))
    file, suite = map(to_one_line, noted)
    return f"{file} for {suite}" if suite and file != suite else file
