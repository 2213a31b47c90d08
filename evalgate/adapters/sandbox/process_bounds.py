"""Limits a process, waits for it to end, and describes which limit it exceeded."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

from msgspec import Struct

from evalgate.adapters.sandbox.kernel import forbid_new_privileges
from evalgate.errors import EvalGateError, OverLimit, Problem

MB = 1_000_000
LARGEST_FILE = 600 * MB
MOST_OPEN_FILES = 256
MAX_PROCESSES = 0
"""Processes besides the judge. Only the system's root user is not bound by this."""
OUT_OF_MEMORY = 99
"""The exit code of a limited process that ran out of memory."""
NO_MEMORY = 12  # ENOMEM
NEARLY_ALL = 0.9
LOAD_FAILURES = ("annot allocate memory", "failed to map segment")
"""The system's messages when a library does not fit into memory."""


class Bounds(Struct, frozen=True):
    """Limits: seconds of CPU time, bytes of address space, seconds of wall time. None means no limit.

    `spare` is how much the CPU time may grow while traces are judged, see `CpuAllowance`.
    """

    cpu: int | None = None
    memory: int | None = None
    wall: float | None = None
    spare: int = 0


def apply_bounds(bounds: Bounds) -> None:
    """Limits this process permanently, and disables core dumps."""
    sys.unraisablehook = _ignore_unraisable
    _lower_limit(resource.RLIMIT_CORE, 0, 0)
    if bounds.cpu is not None:
        _lower_limit(resource.RLIMIT_CPU, bounds.cpu, bounds.cpu + max(1, bounds.spare))  # soft: SIGXCPU
    if bounds.memory is not None and sys.platform != "darwin":  # which takes no limit below what it has reserved
        os.environ["RUST_BACKTRACE"] = "0"  # a library without memory for a backtrace waits for its own lock
        _lower_limit(resource.RLIMIT_AS, bounds.memory, bounds.memory)


def _ignore_unraisable(_: object) -> None:
    """Prints no unraisable errors, as memory may be exhausted: the exit code shows that."""


def drop_privileges(user: int | None, group: int) -> None:
    """Limits files and processes, forbids new privileges and, if a `user` is given, becomes that user."""
    _lower_limit(resource.RLIMIT_FSIZE, LARGEST_FILE, LARGEST_FILE)
    _lower_limit(resource.RLIMIT_NOFILE, MOST_OPEN_FILES, MOST_OPEN_FILES)
    _lower_limit(resource.RLIMIT_NPROC, MAX_PROCESSES, MAX_PROCESSES)
    forbid_new_privileges()
    if user is None:
        return
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def _lower_limit(kind: int, soft: int, hard: int) -> None:
    """Lowers a limit; keeps a lower existing one."""
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        hard = min(hard, most)
    resource.setrlimit(kind, (min(soft, hard), hard))


class CpuAllowance:
    """Allows one more second of CPU time per `every` traces; implements `Progress`."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._count = 0

    def begin(self, suite: str) -> None:
        """Does nothing: the time is for all suites together."""

    def advance(self, what: str, count: int = 1) -> None:  # noqa: ARG002  the port's signature
        """Counts traces, and raises the CPU limit if due."""
        self._count += count
        if self._count >= self._every:
            soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (min(soft + self._count // self._every, hard), hard))
            self._count %= self._every

    def finish(self) -> None:
        """Does nothing."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error comes from the memory limit, also if it hit while loading a library."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno == NO_MEMORY):
            return True
        if isinstance(cause, ImportError) and any(words in str(cause) for words in LOAD_FAILURES):
            return True
        if isinstance(cause, SystemError) and _get_memory_limit() != resource.RLIM_INFINITY:
            return True  # compiled code without memory may fail without an exception
        cause = cause.__cause__ or cause.__context__
    return not isinstance(error, EvalGateError) and _is_near_memory_limit()


def _get_memory_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_AS)[0]


def _is_near_memory_limit() -> bool:
    """Whether the peak use was close to the limit: any failure is then taken for lack of memory."""
    limit = _get_memory_limit()
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except (OSError, MemoryError):
        return False
    peak = int(status.partition("VmPeak:")[2].split()[0]) * 1024
    return limit != resource.RLIM_INFINITY and peak > NEARLY_ALL * limit


POLL_S = 0.02
CRASH_SIGNALS = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL})
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


def is_without_memory(status: ExitStatus, bounds: Bounds) -> bool:
    """Whether a process ended as one does that gets no memory under its limit; a library then aborts."""
    return bounds.memory is not None and status.code in (OUT_OF_MEMORY, -signal.SIGABRT)


def over_limit(status: ExitStatus, bounds: Bounds, current_file: str) -> OverLimit | None:
    """The error for the limit that the process exceeded, or for a crash; None if it exited by itself."""
    reason = _describe_limit(status, bounds)
    if reason is None:
        return None
    suffix = f" while it was reading {current_file}" if current_file else ""
    return OverLimit(Problem(f"{reason}{suffix}", None, "raise limit `cpu` or `memory`"))


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
    is_likely = bounds.memory is not None and -status.code in CRASH_SIGNALS
    hint = f", most likely over its memory limit{memory}" if is_likely else ""
    return f"judging crashed with signal {-status.code}{hint}"
