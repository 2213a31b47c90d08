"""The judge's process: applies limits, drops privileges, answers one request and exits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP
from evalgate.adapters.sandbox.process_bounds import (
    OUT_OF_MEMORY,
    Bounds,
    apply_bounds,
    drop_privileges,
    is_out_of_memory,
)
from evalgate.bootstrap import process

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_ASKED, FAILED = 0, 1


def run_judge(folder: str, bounds: Bounds, user: int | None) -> NoReturn:
    """Runs a judge that gets its request at the start."""
    apply_bounds(bounds)
    _answer_and_exit(folder, user)


def run_ready_judge(handle: int) -> NoReturn:
    """Runs a preforked judge: reads its limits, imports modules, then reads the folder of its request."""
    with os.fdopen(handle, "rb") as stream:
        fields = stream.readline().split()
        if not fields:
            os._exit(NOT_ASKED)
        cpu, spare, memory, *modules = fields
        apply_bounds(Bounds(int(cpu), int(memory), spare=int(spare)))
        code = _run_for_exit_code(lambda: _load_modules(modules))
        user, _, folder = stream.read().partition(b"\n")
    if code or not folder:
        os._exit(code)
    _answer_and_exit(os.fsdecode(folder), int(user) if user else None)


def _answer_and_exit(folder: str, user: int | None) -> NoReturn:
    from evalgate.adapters.sandbox.call_filter import forbid_connections

    drop_privileges(user, JUDGE_GROUP)
    is_filtered = forbid_connections(is_alone=True)
    os.environ["TMPDIR"] = folder
    os._exit(_run_for_exit_code(lambda: _answer(folder, is_filtered=is_filtered)))


def _run_for_exit_code(work: Callable[[], int]) -> int:
    """Runs `work` and returns an exit code also for exceptions, as no one would see a traceback."""
    try:
        return work()
    except BaseException as error:  # noqa: BLE001  (shown by the exit code)
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED


def _load_modules(modules: list[bytes]) -> int:
    """Imports the modules that a request needs while the parent prepares that request."""
    from importlib import import_module

    process.configure_python()
    for name in modules:
        import_module(name.decode())
    return 0


def _answer(folder: str, *, is_filtered: bool) -> int:
    process.configure_python()
    from evalgate.bootstrap.judge_server import answer_request

    return answer_request(folder, is_filtered=is_filtered)
