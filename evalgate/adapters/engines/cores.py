"""Counts the CPU cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(quota: Path = QUOTA) -> int:
    """Cores available to this process, at most the container's quota."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        cores = os.cpu_count() or 1
    return min(cores, _share(quota) or cores)


def _share(quota: Path) -> int | None:
    """The container's CPU quota in cores, at least one; None without a quota."""
    try:
        allowed, period = quota.read_text().split()
        return max(1, int(allowed) // int(period))
    except (OSError, ValueError):  # no container, or no quota ("max")
        return None
