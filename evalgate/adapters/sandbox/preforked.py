"""A judge that was made ready: forked from a process that knows no secret yet, to be asked once."""

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
"""The open file by which the judge hears, the only one that it keeps."""
ABOVE_ALL_FILES = 1 << 20
BROKEN = 1


class ReadyJudge:
    """Such a process, as the one sees it that will ask."""

    def __init__(self, pid: int, words: int) -> None:
        self._pid, self._words = pid, words
        self._is_asked = False

    def prepare(self, bounds: Bounds, modules: Sequence[str] = ()) -> None:
        """Has it bound itself, and load modules while this process does something else."""
        self._say(" ".join(map(str, (bounds.cpu, bounds.spare, bounds.memory, *modules))) + "\n")

    def begin(self, folder: str, user: int | None) -> int:
        """Has it answer the question in a folder, as a user; its number."""
        self._say(f"{'' if user is None else user}\n{folder}")
        os.close(self._words)
        self._is_asked = True
        return self._pid

    def dismiss(self) -> None:
        """Ends it where nobody has asked it."""
        if self._is_asked:
            return
        end(self._pid)
        os.close(self._words)

    def _say(self, words: str) -> None:
        with suppress(BrokenPipeError):  # it is gone: who waits for it will see how
            os.write(self._words, os.fsencode(words))


def make_ready(life: Callable[[int], object]) -> ReadyJudge:
    """Forks a process that keeps no open file but the one through which `life` hears."""
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
    """A session of its own, signals as a new process has them, streams that lead nowhere."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.dup2(heard, EARS)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in STREAMS:
        os.dup2(nowhere, stream)
    os.closerange(EARS + 1, ABOVE_ALL_FILES)
