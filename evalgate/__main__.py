"""Entry point of `python -m evalgate` and of the command `evalgate`."""

from __future__ import annotations

# Until its handlers are installed, a signal ends this process with a traceback, so nothing slow is imported before:
# `signal`, `contextlib` and `typing` take as long as the interpreter takes to start.
import _signal  # type: ignore[import-not-found]
import os
import sys
from io import TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn, TextIO

WRONG_INPUT, BROKEN_PIPE, ENDED_BY_SIGNAL = 2, 128 + 13, 128
TIDYING = (
    ("evalgate.adapters.file_writer", "remove_drafts"),
    ("evalgate.adapters.sandbox.process_bounds", "end_children"),
    ("evalgate.adapters.engines.process_pool", "kill_workers"),
)
"""What a process that is ended calls, as far as it is loaded."""


def main() -> NoReturn:
    """Runs the command line with this process's streams and environment, and ends the process.

    It ends with `os._exit`: tearing the interpreter down would take longer than most runs.
    """
    for number in (_signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) is not _signal.SIG_IGN:  # as under nohup
            _signal.signal(number, _end_on_signal)
    from contextlib import suppress

    from evalgate.bootstrap import process

    process.configure_python()
    process.separate_stderr()
    from evalgate.cli import main as shell
    from evalgate.cli.shell import Shell

    out, err = _prepare_stream(sys.stdout), _prepare_stream(sys.stderr)
    environ = {name: _replace_invalid_bytes(value) for name, value in os.environ.items()}
    code = shell(sys.argv[1:], Shell(out, err, environ, _find_current_folder(err), sys.stdin))
    try:
        out.flush()
    except BrokenPipeError:
        code = code or BROKEN_PIPE
    except OSError:  # a full disk: output is lost, so the run must not look successful
        code = code or WRONG_INPUT
    with suppress(OSError):  # what is lost here is no result
        err.flush()
    os._exit(code)


def _end_on_signal(number: int, _: FrameType | None) -> NoReturn:
    """Ends this process: deletes unfinished files, ends child processes, shows the terminal's cursor again.

    It exits instead of raising: an exception in a callback of a compiled library, or while one is loading, may
    crash it or be lost.
    """
    for each in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(each, _signal.SIG_IGN)
    for module, function in TIDYING:
        if (loaded := sys.modules.get(module)) is not None and hasattr(loaded, function):
            getattr(loaded, function)()
    if "rich" in sys.modules and sys.stderr is not None and sys.stderr.isatty():
        os.write(sys.stderr.fileno(), b"\x1b[?25h")
    os._exit(ENDED_BY_SIGNAL + number)


def _prepare_stream(stream: TextIO | None) -> TextIO:
    """Makes a stream safe to write to: a closed one discards output, unencodable characters become `?`."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  (lives as long as the process)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


def _replace_invalid_bytes(value: str) -> str:
    """Replaces undecodable bytes of a variable, which no document could hold."""
    return value.encode("utf-8", "replace").decode()


def _find_current_folder(err: TextIO) -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        err.write("error: the working directory no longer exists\n")
        err.flush()
        os._exit(WRONG_INPUT)


if __name__ == "__main__":
    main()
