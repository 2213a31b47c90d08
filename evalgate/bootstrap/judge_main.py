"""The life of a judge's process: it bounds itself, becomes nobody, answers one question and ends."""

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
    """The life of one that knows its question as it starts."""
    bound(bounds)
    _end_with(folder, user)


def live_ready(ears: int) -> NoReturn:
    """The life of one that was made ready: it hears its bounds and loads, then where its question lies."""
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
    """The code that work ends with, whatever becomes of it; nobody reads what would be printed."""
    try:
        return work()
    except BaseException as error:  # noqa: BLE001  (told by the code)
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED


def _load(modules: list[bytes]) -> int:
    """Loads what the question will need, while the one that asks finds out what it will ask."""
    from importlib import import_module

    process.settle_python()
    for name in modules:
        import_module(name.decode())
    return 0


def _answer(folder: str) -> int:
    process.settle_python()
    from evalgate.bootstrap.judge_server import answer

    return answer(folder)
