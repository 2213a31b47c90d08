"""Process settings of Linux (prctl), no-ops elsewhere. `_ctypes` loads five times as fast as `ctypes`."""

from __future__ import annotations

PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 4, 38


def forbid_inspection() -> None:
    """Keeps other processes of the same user from reading this one's memory and environment."""
    _prctl(PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    """Stops this process from gaining rights by running a setuid program."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    try:
        import _ctypes

        function = _ctypes.dlsym(_ctypes.dlopen("", 0), "prctl")
    except (ImportError, AttributeError, OSError):
        return
    _ctypes.call_function(function, (option, value, 0, 0, 0))
