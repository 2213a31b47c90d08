"""Runs a command in a limited child process; the waiting parent reads no input."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from evalgate.adapters.sandbox.current_file import last_read
from evalgate.adapters.sandbox.exit_status import ending_of, over_limit
from evalgate.adapters.sandbox.process_bounds import OUT_OF_MEMORY, Bounds, bound, is_out_of_memory
from evalgate.bootstrap import process

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.errors import OverLimit
    from evalgate.settings.limits import Limits

LOST_OUTPUT = 2


def run_limited(limits: Limits, work: Callable[[], int], guard: Callable[[Callable[[], int]], int]) -> int:
    """Runs `work` in a child process and returns its exit code; raises OverLimit.

    `guard` runs it so that every outcome becomes an exit code.
    """
    import tempfile  # slow to import, so only for limited runs

    patience = None if limits.cpu is None else 4.0 * limits.cpu + 20
    bounds = Bounds(limits.cpu, limits.memory, patience)
    _flush()
    with tempfile.TemporaryFile() as place:
        child = os.fork()
        if child == 0:
            bound(bounds)
            process.reading.into(place.fileno())
            _end_with(guard(lambda: _bounded(work)))
        ending = ending_of(child, bounds.wall)
        refusal = over_limit(ending, bounds, last_read(place.fileno()))
    if refusal is not None:
        raise refusal
    return ending.code


def left_invalid(
    request: JudgeRequest, refusal: OverLimit, output_dir: str, cwd: str, epoch: str | None
) -> Judgement:
    """Writes the files for a request that exceeded its limits; returns its judgement."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.judge.report import invalid
    from evalgate.application.messages.write_outputs import leave_files

    judgement = invalid(request, refusal, SystemClock(epoch).now())
    leave_files(judgement, OutputFolder(output_dir, cwd))
    return judgement


def _bounded(work: Callable[[], int]) -> int:
    """Runs the work; exits with OUT_OF_MEMORY if there is no memory left."""
    try:
        return work()
    except Exception as error:
        if is_out_of_memory(error):
            os._exit(OUT_OF_MEMORY)
        raise


def _end_with(code: int) -> NoReturn:
    try:
        _flush()
    except OSError:  # a full disk or a closed pipe must not look like success
        code = code or LOST_OUTPUT
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
