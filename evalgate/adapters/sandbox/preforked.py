"""A judge forked in advance, before its parent knows any secret; it answers one request."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from evalgate.adapters.sandbox.judge_process import end_judge, running_judges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.sandbox.process_bounds import Bounds

STREAMS = (0, 1, 2)
INPUT_HANDLE = 3
"""The open file through which the judge gets its input, the only one it keeps."""
ABOVE_ALL_FILES = 1 << 20
EXIT_BROKEN = 1


class ReadyJudge:
    """The parent's side of such a judge."""

    def __init__(self, pid: int, pipe: int) -> None:
        self._pid, self._pipe = pid, pipe
        self._is_used = False

    def prepare(self, bounds: Bounds, modules: Sequence[str] = ()) -> None:
        """Has the judge apply its limits and import modules while this process goes on."""
        self._send(" ".join(map(str, (bounds.cpu, bounds.spare, bounds.memory, *modules))) + "\n")

    def begin(self, folder: str, user: int | None) -> int:
        """Has the judge answer the request in a folder, as a user; returns its process id."""
        self._send(f"{'' if user is None else user}\n{folder}")
        os.close(self._pipe)
        self._is_used = True
        return self._pid

    def dismiss(self) -> None:
        """Ends the judge if it got no request."""
        if self._is_used:
            return
        end_judge(self._pid)
        os.close(self._pipe)

    def _send(self, text: str) -> None:
        with suppress(BrokenPipeError):  # it has ended: waiting for it will show how
            os.write(self._pipe, os.fsencode(text))


def fork_ready_judge(serve: Callable[[int], object]) -> ReadyJudge:
    """Forks a process that runs `serve` and keeps only one open file, its input."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _detach(read_end)
            serve(INPUT_HANDLE)
        finally:
            os._exit(EXIT_BROKEN)
    os.close(read_end)
    running_judges.add(pid)
    return ReadyJudge(pid, write_end)


def _detach(read_end: int) -> None:
    """Starts a new session with default signals, streams to /dev/null, and no other open files."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.dup2(read_end, INPUT_HANDLE)
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in STREAMS:
        os.dup2(devnull, stream)
    os.closerange(INPUT_HANDLE + 1, ABOVE_ALL_FILES)
