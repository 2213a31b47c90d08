"""CPU seconds and peak memory of other processes, as the kernel counts them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Usage(NamedTuple):
    """What one process and its children used: user and system seconds, peak resident megabytes."""

    cpu: float
    memory_mb: float


class UnexpectedExitError(Exception):
    """A measured command ended with an unexpected exit code."""


def once(arguments: Sequence[str], exits: Sequence[int] = (0,), output: Path | None = None) -> Usage:
    """Runs Python with `arguments` the way an installed command runs: with .pyc files.

    Its output goes into the file `output`, if one is given.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with open(output or os.devnull, "wb") as out:  # noqa: PTH123  (the null device has no Path of its own)
        process = subprocess.Popen([sys.executable, *arguments], env=environment, stdout=out, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in exits:
        raise UnexpectedExitError(f"exit code {process.returncode} from {' '.join(arguments)}")
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def best(arguments: Sequence[str], times: int, exits: Sequence[int] = (0,)) -> Usage:
    """The quickest of several runs: on a shared machine, slower runs measure other load."""
    return min((once(arguments, exits) for _ in range(times)), key=lambda usage: usage.cpu)
