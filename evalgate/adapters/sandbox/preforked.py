"""A judge forked in advance, before its parent knows any secret; it answers one request."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from evalgate.adapters.sandbox.judge_process import at_work, end

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.sandbox.process_bounds import Bounds

STREAMS = (0, 1, 2)
EARS = 3
"""The open file through which the judge gets its input, the only one it keeps."""
ABOVE_ALL_FILES = 1 << 20
BROKEN = 1


class ReadyJudge:
    """The parent's side of such a judge."""

    def __init__(self, pid: int, words: int) -> None:
        self._pid, self._words = pid, words
        self._is_asked = False

    def prepare(self, bounds: Bounds, modules: Sequence[str] = ()) -> None:
        """Has the judge apply its limits and import modules while this process goes on."""
        self._say(" ".join(map(str, (bounds.cpu, bounds.spare, bounds.memory, *modules))) + "\n")

    def begin(self, folder: str, user: int | None) -> int:
        """Has the judge answer the request in a folder, as a user; returns its process id."""
        self._say(f"{'' if user is None else user}\n{folder}")
        os.close(self._words)
        self._is_asked = True
        return self._pid

    def dismiss(self) -> None:
        """Ends the judge if it got no request."""
        if self._is_asked:
            return
        end(self._pid)
        os.close(self._words)

    def _say(self, words: str) -> None:
        with suppress(BrokenPipeError):  # it has ended: waiting for it will show how
            os.write(self._words, os.fsencode(words))


def make_ready(life: Callable[[int], object]) -> ReadyJudge:
    """Forks a process that runs `serve` and keeps only one open file, its input."""
    heard, words = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _leave_all_behind(heard)
            life(EARS)
        finally:
            os._exit(BROKEN)
    os.close(heard)
    at_work.add(pid)
    return ReadyJudge(pid, words)


def _leave_all_behind(heard: int) -> None:
    """Starts a new session with default signals, streams to /dev/null, and no other open files."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.dup2(heard, EARS)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in STREAMS:
        os.dup2(nowhere, stream)
    os.closerange(EARS + 1, ABOVE_ALL_FILES)
