"""The memory limit of this process, if there is one."""

from __future__ import annotations

from functools import cache

LOW_MEMORY = 600_000_000
"""Bytes; with more of them, the fast methods are safe for values of any size that a record may hold."""


@cache
def get_memory_limit() -> float:
    """Returns the limit in bytes of address space, infinite if it is not limited."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return float("inf")
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if most == resource.RLIM_INFINITY else most


def is_memory_low() -> bool:
    """Returns whether large values must be handled in parts."""
    return get_memory_limit() < LOW_MEMORY
