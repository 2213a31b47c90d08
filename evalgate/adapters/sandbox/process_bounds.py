"""Limits a process: CPU time, memory, files, processes and user. They can't be raised afterwards."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from evalgate.adapters.sandbox.kernel import forbid_new_privileges
from evalgate.errors import EvalGateError
from evalgate.records import dataclass

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


@dataclass(frozen=True, slots=True)
class Bounds:
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
    if bounds.memory is not None:
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
        cause = cause.__cause__ or cause.__context__
    return not isinstance(error, EvalGateError) and _is_near_memory_limit()


def _is_near_memory_limit() -> bool:
    """Whether the peak use was close to the limit: any failure is then taken for lack of memory."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except (OSError, MemoryError):
        return False
    peak = int(status.partition("VmPeak:")[2].split()[0]) * 1024
    return limit != resource.RLIM_INFINITY and peak > NEARLY_ALL * limit
