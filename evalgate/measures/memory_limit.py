"""How much memory this process may ask for, where somebody has bounded it."""

from __future__ import annotations

from functools import cache

TIGHT = 600_000_000
"""Bytes; with more of them the quick ways are safe for all that a record may hold."""


@cache
def bound_on_memory() -> float:
    """Bytes of address space."""
    try:
        import resource
    except ImportError:  # a system that knows no such bound
        return float("inf")
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if most == resource.RLIM_INFINITY else most


def is_tight() -> bool:
    """Whether large values must be handled a part at a time."""
    return bound_on_memory() < TIGHT
