"""Runs a command in a limited child process; the waiting parent reads no input."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.sandbox.current_file import read_note
from evalgate.adapters.sandbox.exit_status import over_limit, wait_for_exit
from evalgate.adapters.sandbox.process_bounds import OUT_OF_MEMORY, Bounds, apply_bounds, is_out_of_memory
from evalgate.bootstrap import process

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.errors import OverLimit
    from evalgate.settings.limits import Limits

LOST_OUTPUT = 2


def run_in_limited_process(
    limits: Limits, work: Callable[[], int], guard: Callable[[Callable[[], int]], int], *, may_connect: bool = False
) -> int:
    """Runs `work` in a child process; `guard` makes every outcome an exit code. Raises OverLimit.

    Unless it `may_connect`, the kernel refuses it connections and programs, where it takes such a filter.
    """
    import tempfile  # slow to import, so only for limited runs

    from evalgate.adapters.sandbox.call_filter import forbid_connections

    wall_seconds = None if limits.cpu is None else 4.0 * limits.cpu + 20
    bounds = Bounds(limits.cpu, limits.memory, wall_seconds)
    _flush()
    with tempfile.TemporaryFile() as note_file:
        child = os.fork()
        if child == 0:
            apply_bounds(bounds)
            if not may_connect:
                forbid_connections()
            process.current_file.write_to(note_file.fileno())
            _exit(guard(lambda: _run_work(work)))
        status = wait_for_exit(child, bounds.wall)
        refusal = over_limit(status, bounds, read_note(note_file.fileno()))
    if refusal is not None:
        raise refusal
    return status.code


def render_invalid_judgement(
    request: JudgeRequest, error: OverLimit, output_dir: str, cwd: str, epoch: str | None
) -> Judgement:
    """The judgement of a request that exceeded its limits; deletes a baseline.zip that it left unfinished."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.comparison.baseline import NAME
    from evalgate.application.judge.report import render_invalid

    OutputFolder(output_dir, cwd).remove(f".{NAME}.part")
    return render_invalid(request, error, SystemClock(epoch).now())


def _run_work(work: Callable[[], int]) -> int:
    """Runs the work; exits with OUT_OF_MEMORY if there is no memory left."""
    try:
        return work()
    except Exception as error:
        if is_out_of_memory(error):
            os._exit(OUT_OF_MEMORY)
        raise


def _exit(code: int) -> NoReturn:
    try:
        _flush()
    except OSError:  # a full disk or a closed pipe must not look like success
        code = code or LOST_OUTPUT
    os._exit(code)


def _flush() -> None:
    """Writes what is printed; raises OSError if a part of the result is lost."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.flush()
    if sys.stdout is not None:
        sys.stdout.flush()
