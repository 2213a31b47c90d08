"""Calls of Linux that Python does not offer, and a filter of system calls (seccomp) for processes that judge.

Judges open no connection and start no program. The filter names what is refused; a list of what is allowed would
break with any new version of Python or a library. `_ctypes` loads five times as fast as `ctypes`.
"""

from __future__ import annotations

import os
import sys
from array import array  # here, as it may not be loadable under a memory limit
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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


ARCHITECTURES = {"x86_64": (0xC000003E, 317, 0), "aarch64": (0xC00000B7, 277, 1)}
"""By machine: how the kernel names it in a filter, its number of `seccomp`, and its column below."""
# fmt: off
REFUSED = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "recvfrom": (45, 207), "recvmsg": (47, 212), "recvmmsg": (299, 243),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40),
    "umount2": (166, 39), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "open_by_handle_at": (304, 265), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "personality": (135, 92),
    "init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104), "reboot": (169, 142),
}
PROCESSES = {"fork": (57, None), "vfork": (58, None), "clone": (56, 220), "clone3": (435, 435)}
# fmt: on
"""System calls by their numbers on x86-64 and arm64. io_uring can do what is refused without calling it."""
X32 = 0x40000000
"""Numbers from here on are those of x32, a second set of calls that x86-64 kernels may have."""
LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4
"""Where a filter finds them."""
ALLOW, REFUSE_AS_FORBIDDEN = 0x7FFF0000, 0x00050001
SET_FILTER, ALL_THREADS = 1, 1


def forbid_connections(*, is_alone: bool = False) -> bool:
    """Refuses these calls to this process, all its threads and its later children; nothing lifts that again.

    With `is_alone`, also new processes and threads, which root could start despite its limit of them. Returns
    False where the system takes no such filter: another architecture, or a kernel or container without it.
    """
    machine = os.uname().machine if sys.platform == "linux" and sys.maxsize > X32 * 4 else ""
    if machine not in ARCHITECTURES:
        return False
    architecture, seccomp, column = ARCHITECTURES[machine]
    refused = {**REFUSED, **PROCESSES} if is_alone else REFUSED
    numbers = (each[column] for each in refused.values())
    return refuse_calls(architecture, seccomp, [number for number in numbers if number is not None])


def refuse_calls(architecture: int, seccomp: int, numbers: Sequence[int]) -> bool:
    """Installs a filter that refuses calls with these numbers, and all calls of another architecture."""
    forbid_new_privileges()
    refuse = len(numbers) + 4
    program = [
        _instruct(LOAD, ARCHITECTURE),
        _instruct(IF_EQUAL, architecture, otherwise=refuse - 1),
        _instruct(LOAD, NUMBER),
        _instruct(IF_AT_LEAST, X32, then=refuse - 3),
        *(_instruct(IF_EQUAL, number, then=refuse - 4 - at) for at, number in enumerate(numbers)),
        _instruct(RETURN, ALLOW),
        _instruct(RETURN, REFUSE_AS_FORBIDDEN),
    ]
    code = array("B", b"".join(program))
    described = len(program).to_bytes(8, sys.byteorder) + code.buffer_info()[0].to_bytes(8, sys.byteorder)
    return call_kernel("syscall", seccomp, SET_FILTER, ALL_THREADS, described) == 0


def _instruct(operation: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction: how many to skip if the value is found, and if it is not."""
    return (operation | then << 16 | otherwise << 24 | value << 32).to_bytes(8, sys.byteorder)
