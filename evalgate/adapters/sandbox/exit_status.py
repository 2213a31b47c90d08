"""Waits for a process to end and describes which limit it exceeded."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple

from evalgate.adapters.sandbox.process_bounds import OUT_OF_MEMORY
from evalgate.errors import OverLimit, Problem

if TYPE_CHECKING:
    from evalgate.adapters.sandbox.process_bounds import Bounds

LOOK_AGAIN_S = 0.02
MB = 1_000_000
BROKEN_OFF = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS})
"""Signals that end compiled libraries when they get no memory."""


class ExitStatus(NamedTuple):
    """The exit code, negative for a signal, and whether the process was killed for taking too long."""

    code: int
    is_late: bool = False


def ending_of(pid: int, seconds: float | None, *, group: bool = False) -> ExitStatus:
    """Waits for a child process and kills it after `seconds`; with `group`, kills its process group too."""
    try:
        is_late = not _has_ended(pid, seconds)
    except BaseException:  # this process is being ended: end the child too
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    if is_late:
        os.kill(pid, signal.SIGKILL)
    if group:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # keeps its pid reserved until the next lines
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return ExitStatus(os.waitstatus_to_exitcode(status), is_late)


def _has_ended(pid: int, seconds: float | None) -> bool:
    if not hasattr(os, "pidfd_open"):
        return _looked_for(pid, seconds)
    handle = os.pidfd_open(pid)
    try:
        watch = select.poll()
        watch.register(handle, select.POLLIN)
        return bool(watch.poll(None if seconds is None else seconds * 1_000))
    finally:
        os.close(handle)


def _looked_for(pid: int, seconds: float | None) -> bool:
    """The same by polling, for systems without pidfd."""
    until = None if seconds is None else monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if until is not None and monotonic() > until:
            return False
        sleep(LOOK_AGAIN_S)
    return True


def over_limit(ending: ExitStatus, bounds: Bounds, reading: str) -> OverLimit | None:
    """The error for the limit that the process exceeded, or for a crash; None if it exited by itself."""
    what = _reason(ending, bounds)
    if what is None:
        return None
    place = f" while it was reading {reading}" if reading else ""
    return OverLimit(Problem(f"{what}{place}", None, "docs/security.md, Limits"))


def _reason(ending: ExitStatus, bounds: Bounds) -> str | None:
    memory = "" if bounds.memory is None else f" ({bounds.memory // MB:,} MB)"
    if ending.is_late:
        return f"judging took longer than {bounds.wall:,.0f} seconds"
    if ending.code == OUT_OF_MEMORY:
        return f"judging ran out of the memory it may use{memory}"
    if ending.code >= 0:
        return None
    if -ending.code == signal.SIGXCPU:
        return f"judging used up its CPU time ({bounds.cpu} seconds)"
    if -ending.code == signal.SIGKILL:
        return "judging was ended by the system, for its time or memory"
    for_lack = f", most likely out of the memory it may use{memory}" if -ending.code in BROKEN_OFF else ""
    return f"judging broke off, signal {-ending.code}{for_lack}"
