"""What a process may use, and what it may use no more once it has said so."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from evalgate.adapters.sandbox.kernel import gain_no_rights
from evalgate.errors import EvalGateError
from evalgate.records import dataclass

MB = 1_000_000
LARGEST_FILE = 600 * MB
MOST_OPEN_FILES = 256
NO_PROCESS = 0
"""More than the one that judges. Only the system's own root may begin others all the same."""
OUT_OF_MEMORY = 99
"""The exit code by which a bounded process says that it had no memory left."""
NO_MEMORY = 12  # ENOMEM
NEARLY_ALL = 0.9
NOT_LOADED = ("annot allocate memory", "failed to map segment")
"""How the system says that a library found no room."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds of CPU time, bytes of address space, seconds by the clock. None is no bound.

    `spare` is what the CPU time may grow by while traces are judged, see `Allowance`.
    """

    cpu: int | None = None
    memory: int | None = None
    wall: float | None = None
    spare: int = 0


def bound(bounds: Bounds) -> None:
    """Bounds this process, for good, and leaves no image of its memory where it breaks off."""
    sys.unraisablehook = _say_nothing
    _limit(resource.RLIMIT_CORE, 0, 0)
    if bounds.cpu is not None:
        _limit(resource.RLIMIT_CPU, bounds.cpu, bounds.cpu + max(1, bounds.spare))  # the first one tells why
    if bounds.memory is not None:
        _limit(resource.RLIMIT_AS, bounds.memory, bounds.memory)


def _say_nothing(_: object) -> None:
    """What can't be raised for want of memory is not printed either: how the process ends tells it."""


def become(user: int | None, group: int) -> None:
    """Bounds what this process may leave behind and begin and, where `user` is told, goes on as that user."""
    _limit(resource.RLIMIT_FSIZE, LARGEST_FILE, LARGEST_FILE)
    _limit(resource.RLIMIT_NOFILE, MOST_OPEN_FILES, MOST_OPEN_FILES)
    _limit(resource.RLIMIT_NPROC, NO_PROCESS, NO_PROCESS)
    gain_no_rights()
    if user is None:
        return
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Lowers a limit; one that is lower already stays."""
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        hard = min(hard, most)
    resource.setrlimit(kind, (min(soft, hard), hard))


class Allowance:
    """Gives the process a second of CPU time more for so many traces; implements `Progress`."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._count = 0

    def begin(self, suite: str) -> None:
        """All suites together are given time."""

    def advance(self, what: str, count: int = 1) -> None:  # noqa: ARG002  the port's signature
        """`count` more are done."""
        self._count += count
        if self._count >= self._every:
            soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (min(soft + self._count // self._every, hard), hard))
            self._count %= self._every

    def finish(self) -> None:
        """Nothing was shown."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error comes from a bound on memory, also where it hit the loading of a library."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or (isinstance(seen, OSError) and seen.errno == NO_MEMORY):
            return True
        if isinstance(seen, ImportError) and any(words in str(seen) for words in NOT_LOADED):
            return True
        seen = seen.__cause__ or seen.__context__
    return not isinstance(error, EvalGateError) and _has_used_its_memory()


def _has_used_its_memory() -> bool:
    """Whether this process came close to its bound: what fails then fails for that, whatever it says."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    try:
        told = Path("/proc/self/status").read_text(encoding="ascii")
    except (OSError, MemoryError):
        return False
    peak = int(told.partition("VmPeak:")[2].split()[0]) * 1024
    return limit != resource.RLIM_INFINITY and peak > NEARLY_ALL * limit
