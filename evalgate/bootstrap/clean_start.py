"""The Action's process, started over: what the runner put into its environment is nowhere to be read.

Who may look at a process in /proc sees the environment it was started with, for as long as it lives. So the
variables are handed, in memory, to a second start without any, which other processes can't look at.
"""

from __future__ import annotations

import os
import signal
import sys

HANDED_OVER = "--environment="
NOT_NOW = (signal.SIGTERM, signal.SIGINT)
PR_SET_DUMPABLE = 4


def start_over() -> None:
    """Comes back in the second start only, with the environment restored. Where it can't be done, at once."""
    if sys.argv[-1].startswith(HANDED_OVER):
        _restore(int(sys.argv.pop().removeprefix(HANDED_OVER)))
        _be_private()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, NOT_NOW)
    elif hasattr(os, "memfd_create") and sys.executable:
        _hand_over()


def _hand_over() -> None:
    """Ends in another start of the same command. A job that is cancelled meanwhile is so afterwards."""
    content = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    memory = os.memfd_create("environment", 0)  # open in the next start too
    os.write(memory, content)
    os.lseek(memory, 0, os.SEEK_SET)
    signal.pthread_sigmask(signal.SIG_BLOCK, NOT_NOW)
    command = [sys.executable, *sys.orig_argv[1:], f"{HANDED_OVER}{memory}"]
    os.execve(sys.executable, command, {})  # noqa: S606  (this very program)


def _restore(memory: int) -> None:
    with os.fdopen(memory, "rb") as stream:
        content = stream.read()
    for each in filter(None, content.split(b"\0")):
        name, _, value = each.partition(b"=")
        os.environb[name] = value


def _be_private() -> None:
    """Keeps others of the same user from reading this process's memory and environment (Linux)."""
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
