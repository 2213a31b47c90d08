"""Starts a sandboxed judge and waits for it: it gets no environment, no streams and no open files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from signal import SIGKILL
from typing import TYPE_CHECKING

from evalgate.adapters.sandbox.exit_status import ending_of, over_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
    from evalgate.adapters.sandbox.process_bounds import Bounds

JUDGE, GROUP = 60_700, 60_700
"""User and group of a judge: unused, and outside the ranges that systems assign."""
at_work: set[int] = set()
"""Process ids of the running judges."""


def start(program: Sequence[str]) -> int:
    """Starts a judge; returns its process id."""
    nothing = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    nothing += [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    pid = os.posix_spawn(program[0], [*program], {}, file_actions=nothing, setpgroup=0)
    at_work.add(pid)
    return pid


def wait_for(pid: int, place: ExchangeDir, bounds: Bounds) -> None:
    """Waits for a judge; raises OverLimit if it did not exit by itself."""
    try:
        ending = ending_of(pid, bounds.wall, group=True)
    finally:
        at_work.discard(pid)
    refusal = over_limit(ending, bounds, place.reading())
    if refusal is not None:
        raise refusal


def end(pid: int) -> None:
    """Kills a judge, with its process group if it has one, and waits until it is gone."""
    for ended in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            ended(pid, SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    at_work.discard(pid)


def end_all() -> None:
    """Kills all judges, because this process is being ended."""
    for pid in tuple(at_work):
        end(pid)


def user_to_be(needed: Sequence[str], workspace: str) -> int | None:
    """The user for a judge, who must be able to read the `needed` paths; None for the current user.

    It is an unused user, or the workspace's owner if only that one can read them.
    """
    if os.geteuid() != 0:
        return None
    owner = os.stat(workspace).st_uid  # noqa: PTH116
    users = [JUDGE, *([owner] if owner else [])]
    return next((user for user in users if all(_reaches(user, path) for path in needed)), None)


def _reaches(user: int, path: str) -> bool:
    """Whether a user may list a folder and pass through all its parents."""
    inner = Path(path).resolve()
    if not _may(user, inner, 0o5):
        return False
    return all(_may(user, folder, 0o1) for folder in inner.parents)


def _may(user: int, folder: Path, wanted: int) -> bool:
    found = folder.stat()
    granted = found.st_mode >> 6 if found.st_uid == user else found.st_mode
    return granted & wanted == wanted
