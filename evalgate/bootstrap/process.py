"""Sets up a process, and runs a command in a limited child process; the waiting parent reads no input."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from evalgate.adapters.sandbox.current_file import CurrentFileNote, read_note
from evalgate.errors import report_full_temp_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.settings.limits import Limits

COLLECT_EVERY = 300_000
"""Allocations between garbage collections, more than imports make; results hold no cycles."""

FRAMES = 6
LOST_OUTPUT = 2
NATIVE_STDERR = 2
"""The descriptor that compiled code prints to; a verb prints through a stream with another one."""
MOST_NATIVE_OUTPUT = 64_000

current_file = CurrentFileNote()
"""The file this process reads, noted for its parent."""


def describe_frames(bug: BaseException) -> list[str]:
    """The innermost frames of a traceback, innermost last, without any data that was read."""
    import traceback

    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES:]
    return [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]


def configure_python() -> None:
    """Configures Python first: fewer garbage collections, and no third-party plugins in pydantic."""
    gc.set_threshold(COLLECT_EVERY)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


def run_in_limited_process(
    limits: Limits, work: Callable[[], int], guard: Callable[[Callable[[], int]], int], *, may_connect: bool = False
) -> int:
    """Runs `work` in a child process; `guard` makes every outcome an exit code. Raises OverLimit.

    Unless it `may_connect`, the kernel refuses it connections and programs, where it takes such a filter.
    """
    import tempfile  # slow to import, so only for limited runs

    from evalgate.adapters.sandbox import process_bounds
    from evalgate.adapters.sandbox.kernel import forbid_connections
    from evalgate.adapters.sandbox.process_bounds import Bounds

    def run_work() -> int:
        try:
            return work()
        except Exception as error:
            if process_bounds.is_out_of_memory(error):
                os._exit(process_bounds.OUT_OF_MEMORY)
            raise

    wall_seconds = None if limits.cpu is None else 4.0 * limits.cpu + 20
    bounds = Bounds(limits.cpu, limits.memory, wall_seconds)
    _flush()
    with ExitStack() as opened:
        with report_full_temp_folder():
            note_file, native_output = (opened.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in range(2))
        child = os.fork()
        if child == 0:
            os.dup2(native_output.fileno(), NATIVE_STDERR)
            _end_silently_with(process_bounds.OUT_OF_MEMORY)
            process_bounds.apply_bounds(bounds)
            if not may_connect:
                forbid_connections()
            current_file.write_to(note_file.fileno())
            try:
                _exit(guard(run_work))
            except BaseException:  # noqa: BLE001  (`guard` lets none through: the interpreter lacks memory)
                os._exit(process_bounds.OUT_OF_MEMORY)
        status = process_bounds.wait_for_exit(child, bounds.wall)
        refusal = process_bounds.over_limit(status, bounds, read_note(note_file.fileno()))
        if refusal is not None:
            raise refusal
        _pass_on(native_output)
    return status.code


def _pass_on(native_output: IO[bytes]) -> None:
    """Prints what compiled code in the child printed, if it is not about the end that is reported in our words."""
    native_output.seek(0)
    if content := native_output.read(MOST_NATIVE_OUTPUT):
        with suppress(OSError):
            os.write(NATIVE_STDERR, content)


def _end_silently_with(code: int) -> None:
    """Sets the exit code of a process that ends otherwise than by `_exit`.

    Without memory the interpreter may lose an exception while it leaves functions, and then no `except` sees it.
    """
    import atexit

    sys.excepthook = lambda *_: None
    atexit.register(os._exit, code)


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
