"""Starts a sandboxed judge, or forks one in advance before its parent knows any secret, and waits for it.

It gets no environment, no streams and no open files but its input.
"""

from __future__ import annotations

import contextlib
import os
import signal
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from typing import TYPE_CHECKING

from evalgate.adapters.sandbox.process_bounds import over_limit, wait_for_exit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
    from evalgate.adapters.sandbox.process_bounds import Bounds


JUDGE_USER, JUDGE_GROUP = 60_700, 60_700
"""User and group of a judge: unused, and outside the ranges that systems assign."""
running_judges: set[int] = set()
"""Process ids of the running judges."""


def start_judge(program: Sequence[str]) -> int:
    """Starts a judge; returns its process id."""
    stream_actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    stream_actions += [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    pid = os.posix_spawn(program[0], [*program], {}, file_actions=stream_actions, setpgroup=0)
    running_judges.add(pid)
    return pid


def wait_for_judge(pid: int, exchange: ExchangeDir, bounds: Bounds) -> None:
    """Waits for a judge; raises OverLimit if it did not exit by itself."""
    try:
        status = wait_for_exit(pid, bounds.wall, group=True)
    finally:
        running_judges.discard(pid)
    refusal = over_limit(status, bounds, exchange.last_read_file())
    if refusal is not None:
        raise refusal


def end_judge(pid: int) -> None:
    """Kills a judge, with its process group if it has one, and waits until it is gone."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    running_judges.discard(pid)


def end_all() -> None:
    """Kills all judges, because this process is being ended."""
    for pid in tuple(running_judges):
        end_judge(pid)


def choose_user(needed: Sequence[str], workspace: str) -> int | None:
    """The user for a judge, which must be able to read the `needed` paths; None for the current user.

    It is an unused user, or the workspace's owner if only that one can read them.
    """
    if os.geteuid() != 0 or not hasattr(os, "setresuid"):
        return None
    owner = os.stat(workspace).st_uid  # noqa: PTH116
    users = [JUDGE_USER, *([owner] if owner else [])]
    return next((user for user in users if all(_can_reach(user, path) for path in needed)), None)


def _can_reach(user: int, path: str) -> bool:
    """Whether a user may list a folder and pass through all its parents."""
    inner = Path(path).resolve()
    if not _has_permission(user, inner, 0o5):
        return False
    return all(_has_permission(user, folder, 0o1) for folder in inner.parents)


def _has_permission(user: int, folder: Path, mode: int) -> bool:
    found = folder.stat()
    permissions = found.st_mode >> 6 if found.st_uid == user else found.st_mode
    return permissions & mode == mode


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
