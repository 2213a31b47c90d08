"""How many processes are worth having here."""

from __future__ import annotations

import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(quota: Path = QUOTA) -> int:
    """Cores that this process may use: as the system says, and no more than a container's share of them."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        cores = os.cpu_count() or 1
    return min(cores, _share(quota) or cores)


def _share(quota: Path) -> int | None:
    """Cores' worth of time that a container may use, at least one; None without such a bound."""
    try:
        allowed, period = quota.read_text().split()
        return max(1, int(allowed) // int(period))
    except (OSError, ValueError):  # no container, or no bound ("max")
        return None
