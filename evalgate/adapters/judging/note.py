"""A note of what a process reads, for those who want to know when it ends before its time."""

from __future__ import annotations

import os

LONGEST = 1_000


class Note:
    """The file that is being read, written where a process outlives this one; nowhere at first."""

    def __init__(self) -> None:
        self._place: int | None = None

    def into(self, place: int) -> None:
        """Writes to an open file from now on."""
        self._place = place

    def __call__(self, path: str) -> None:
        """`path` is being read now."""
        if self._place is not None:
            os.pwrite(self._place, path.encode(errors="replace")[:LONGEST].ljust(LONGEST, b"\0"), 0)


def last_read(place: int) -> str:
    """The file that was noted last, empty where none was."""
    from evalgate.reporting.doors import oneline

    return oneline(os.pread(place, LONGEST, 0).rstrip(b"\0").decode(errors="replace"))
