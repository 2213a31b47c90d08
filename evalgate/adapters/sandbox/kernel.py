"""Calls of Linux that Python does not offer, no-ops elsewhere. `_ctypes` loads five times as fast as `ctypes`."""

from __future__ import annotations

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38


def forbid_inspection() -> None:
    """Keeps other processes of the same user from reading this one's memory and environment."""
    call_kernel("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def forbid_new_privileges() -> None:
    """Stops this process from gaining rights by running a setuid program."""
    call_kernel("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def call_kernel(function: str, *arguments: int | bytes) -> int | None:
    """Calls a function of the C library that sets up this process; None if there is no such function."""
    try:
        import _ctypes

        address = _ctypes.dlsym(_ctypes.dlopen("", 0), function)
    except (ImportError, AttributeError, OSError):
        return None
    found: int = _ctypes.call_function(address, arguments)
    return found
