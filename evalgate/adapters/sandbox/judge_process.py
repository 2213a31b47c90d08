"""Starts a judge apart and waits for it: no environment, no streams, no open files of ours."""

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
"""User and group of a judge: nobody's, and outside the ranges that systems give out."""
at_work: set[int] = set()
"""Numbers of the judges that there are."""


def start(program: Sequence[str]) -> int:
    """Starts a program that judges; its number."""
    nothing = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    nothing += [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    pid = os.posix_spawn(program[0], [*program], {}, file_actions=nothing, setpgroup=0)
    at_work.add(pid)
    return pid


def wait_for(pid: int, place: ExchangeDir, bounds: Bounds) -> None:
    """Waits for a judge's end; raises OverLimit where it did not come to one by itself."""
    try:
        ending = ending_of(pid, bounds.wall, group=True)
    finally:
        at_work.discard(pid)
    refusal = over_limit(ending, bounds, place.reading())
    if refusal is not None:
        raise refusal


def end(pid: int) -> None:
    """Ends a judge, and the group that it leads where it has come to that; comes back when it is gone."""
    for ended in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            ended(pid, SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    at_work.discard(pid)


def end_all() -> None:
    """Ends every judge: this process is told to go."""
    for pid in tuple(at_work):
        end(pid)


def user_to_be(needed: Sequence[str], workspace: str) -> int | None:
    """The user that a judge becomes, who must be able to read what it needs; None: the one we are.

    That is nobody's user, or where only the owner of the workspace may read that, its owner.
    """
    if os.geteuid() != 0:
        return None
    owner = os.stat(workspace).st_uid  # noqa: PTH116
    users = [JUDGE, *([owner] if owner else [])]
    return next((user for user in users if all(_reaches(user, path) for path in needed)), None)


def _reaches(user: int, path: str) -> bool:
    """Whether a user may list a folder, and pass all above it."""
    inner = Path(path).resolve()
    if not _may(user, inner, 0o5):
        return False
    return all(_may(user, folder, 0o1) for folder in inner.parents)


def _may(user: int, folder: Path, wanted: int) -> bool:
    found = folder.stat()
    granted = found.st_mode >> 6 if found.st_uid == user else found.st_mode
    return granted & wanted == wanted
