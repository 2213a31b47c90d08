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

POLL_S = 0.02
MB = 1_000_000
CRASH_SIGNALS = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS})
"""Signals that end compiled libraries when they get no memory."""
TIDYING_SECONDS = 1.0
_children: set[int] = set()
"""Processes that this one waits for."""


class ExitStatus(NamedTuple):
    """The exit code, negative for a signal, and whether the process was killed for taking too long."""

    code: int
    is_late: bool = False


def wait_for_exit(pid: int, seconds: float | None, *, group: bool = False) -> ExitStatus:
    """Waits for a child process and kills it after `seconds`; with `group`, kills its process group too."""
    _children.add(pid)
    try:
        is_late = not _ends_within(pid, seconds)
    except BaseException:  # this process is being ended: end the child too
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        _children.discard(pid)
    if is_late:
        os.kill(pid, signal.SIGKILL)
    if group:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # keeps its pid reserved until the next lines
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return ExitStatus(os.waitstatus_to_exitcode(status), is_late)


def end_children() -> None:
    """Ends the child that this process waits for, because it is being ended itself; it may have files to delete."""
    for pid in tuple(_children):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)
            if not _ends_within(pid, TIDYING_SECONDS):
                os.kill(pid, signal.SIGKILL)


def _ends_within(pid: int, seconds: float | None) -> bool:
    if not hasattr(os, "pidfd_open"):
        return _poll_for_end(pid, seconds)
    handle = os.pidfd_open(pid)
    try:
        watch = select.poll()
        watch.register(handle, select.POLLIN)
        return bool(watch.poll(None if seconds is None else seconds * 1_000))
    finally:
        os.close(handle)


def _poll_for_end(pid: int, seconds: float | None) -> bool:
    """The same by polling, for systems without pidfd."""
    until = None if seconds is None else monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if until is not None and monotonic() > until:
            return False
        sleep(POLL_S)
    return True


def over_limit(status: ExitStatus, bounds: Bounds, current_file: str) -> OverLimit | None:
    """The error for the limit that the process exceeded, or for a crash; None if it exited by itself."""
    reason = _describe_limit(status, bounds)
    if reason is None:
        return None
    suffix = f" while it was reading {current_file}" if current_file else ""
    return OverLimit(Problem(f"{reason}{suffix}", None, "raise limit `cpu` or `memory`; docs/security.md, Limits"))


def _describe_limit(status: ExitStatus, bounds: Bounds) -> str | None:
    memory = "" if bounds.memory is None else f" ({bounds.memory // MB:,} MB)"
    if status.is_late:
        return f"judging took longer than {bounds.wall:,.0f} seconds"
    if status.code == OUT_OF_MEMORY:
        return f"judging exceeded its memory limit{memory}"
    if status.code >= 0:
        return None
    if -status.code == signal.SIGXCPU:
        return f"judging exceeded its CPU time limit ({bounds.cpu} seconds)"
    if -status.code == signal.SIGKILL:
        return "judging was killed by the system, most likely out of time or memory"
    hint = f", most likely over its memory limit{memory}" if -status.code in CRASH_SIGNALS else ""
    return f"judging crashed with signal {-status.code}{hint}"
