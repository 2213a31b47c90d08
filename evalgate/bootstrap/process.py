"""Sets up a process, and runs a command in a limited child process; the waiting parent reads no input."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
from contextlib import ExitStack, suppress
from io import TextIOWrapper
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
BLOCK = 1 << 16
LOST_OUTPUT = 2
NATIVE_STDERR, FIRST_FREE = 2, 3
"""The descriptor that compiled code prints to, and the first one that no standard stream has."""

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


def separate_stderr() -> None:
    """Gives Python's stderr a descriptor of its own, so that a child process can hold back what compiled code prints.

    A library that gets no memory prints so itself before it aborts, and the parent reports it in its own words.
    """
    if not isinstance(sys.stderr, TextIOWrapper) or sys.stderr.fileno() != NATIVE_STDERR:
        return
    try:
        from fcntl import F_DUPFD_CLOEXEC, fcntl
    except ImportError:  # Windows, which has no limited processes
        return
    own = fcntl(NATIVE_STDERR, F_DUPFD_CLOEXEC, FIRST_FREE)
    sys.stderr = open(own, "w", buffering=1, encoding=sys.stderr.encoding)  # noqa: PTH123, SIM115  (a handle)


def _has_own_stderr() -> bool:
    """Whether `separate_stderr` has done so; streams of a test have no descriptor."""
    return isinstance(sys.stderr, TextIOWrapper) and sys.stderr.fileno() >= FIRST_FREE


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
    holds_back = bounds.memory is not None and _has_own_stderr() and not faulthandler.is_enabled()
    _flush()
    with ExitStack() as opened:
        with report_full_temp_folder():
            note_file, native_output = (opened.enter_context(tempfile.TemporaryFile(buffering=0)) for _ in range(2))
        child = os.fork()
        if child == 0:
            if holds_back:
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
        if not process_bounds.is_without_memory(status, bounds):
            _print_held_back(native_output)
        refusal = process_bounds.over_limit(status, bounds, read_note(note_file.fileno()))
    if refusal is not None:
        raise refusal
    return status.code


def _print_held_back(native_output: IO[bytes]) -> None:
    native_output.seek(0)
    with suppress(OSError):
        while content := native_output.read(BLOCK):
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
