"""The judge's process: applies limits, drops privileges, answers one request and exits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.sandbox.judge_process import GROUP
from evalgate.adapters.sandbox.process_bounds import OUT_OF_MEMORY, Bounds, become, bound, is_out_of_memory
from evalgate.bootstrap import process

if TYPE_CHECKING:
    from collections.abc import Callable

UNASKED, FAILED = 0, 1


def live_asked(folder: str, bounds: Bounds, user: int | None) -> NoReturn:
    """Runs a judge that gets its request at the start."""
    bound(bounds)
    _end_with(folder, user)


def live_ready(ears: int) -> NoReturn:
    """Runs a preforked judge: reads its limits, imports modules, then reads the folder of its request."""
    with os.fdopen(ears, "rb") as words:
        told = words.readline().split()
        if not told:
            os._exit(UNASKED)
        cpu, spare, memory, *modules = told
        bound(Bounds(int(cpu), int(memory), spare=int(spare)))
        code = _code_of(lambda: _load(modules))
        user, _, folder = words.read().partition(b"\n")
    if code or not folder:
        os._exit(code)
    _end_with(os.fsdecode(folder), int(user) if user else None)


def _end_with(folder: str, user: int | None) -> NoReturn:
    become(user, GROUP)
    os.environ["TMPDIR"] = folder
    os._exit(_code_of(lambda: _answer(folder)))


def _code_of(work: Callable[[], int]) -> int:
    """Runs `work` and returns an exit code also for exceptions, as no one would see a traceback."""
    try:
        return work()
    except BaseException as error:  # noqa: BLE001  (shown by the exit code)
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED


def _load(modules: list[bytes]) -> int:
    """Imports the modules that a request needs while the parent prepares that request."""
    from importlib import import_module

    process.settle_python()
    for name in modules:
        import_module(name.decode())
    return 0


def _answer(folder: str) -> int:
    process.settle_python()
    from evalgate.bootstrap.judge_server import answer

    return answer(folder)
