"""CPU seconds and peak memory of a command with all the processes that it starts."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

UNSET = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONOPTIMIZE")
"""Variables that would make a command slower or faster than for its users."""
INTERVAL = 0.05


class Usage(NamedTuple):
    """User and system seconds, and the peak of resident megabytes."""

    cpu: float
    memory_mb: float


class UnexpectedExitError(Exception):
    """A measured command ended with an unexpected exit code."""


def once(
    command: Sequence[str | Path],
    exits: Collection[int] = (0,),
    *,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    output: Path | None = None,
) -> Usage:
    """Runs a command in `folder`; its output goes into the file `output`, if one is given.

    The memory is that of the largest process. Keep this process small: its size counts as theirs when they start.
    """
    with open(output or os.devnull, "wb") as out:  # noqa: PTH123  (the null device has no Path of its own)
        process = _start(command, folder, variables, out)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in exits:
        raise UnexpectedExitError(f"exit code {process.returncode} from {' '.join(map(str, command))}")
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def memory_of_tree(
    command: Sequence[str | Path], *, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> float:
    """Runs a command; the peak of the megabytes that all its processes hold together, shared pages counted once."""
    with open(os.devnull, "wb") as out:  # noqa: PTH123
        process = _start(command, folder, variables, out)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, sum(map(_held_mb, _with_children(process.pid))))
        time.sleep(INTERVAL)
    return peak


def _start(
    command: Sequence[str | Path], folder: Path | None, variables: Mapping[str, str] | None, out: object
) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in UNSET} | dict(variables or {})
    return subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def _with_children(pid: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        children += map(int, _read(task).split())
    return [pid, *(each for child in children for each in _with_children(child))]


def _held_mb(pid: int) -> float:
    lines = _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _read(path: Path) -> str:
    """Returns nothing for a process that has ended."""
    try:
        return path.read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return ""
