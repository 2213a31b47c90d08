"""Progress for people who watch: on a terminal only, and only once the work takes a while."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.ports import Progress

PATIENCE_S = 1.0
"""Shorter runs show nothing."""


class Quiet:
    """Shows nothing."""

    def advance(self, what: str, count: int = 1) -> None:
        """Nothing is shown."""

    def finish(self) -> None:
        """Nothing was shown."""


class Spinner:
    """A line on stderr that counts; rich is imported only when the work turns out to be long."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._count = 0
        self._bar: Any = None
        self._missing = False

    def advance(self, what: str, count: int = 1) -> None:
        """`count` more of `what` are done."""
        self._count += count
        if self._bar is not None:
            self._bar.update(0, completed=self._count)
        elif not self._missing and self._clock() - self._start > PATIENCE_S:
            self._open(what)

    def finish(self) -> None:
        """The line is taken away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _open(self, what: str) -> None:
        try:
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        except ImportError:
            self._missing = True  # the extra `terminal` is not installed: the result matters, not the line
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.completed:,.0f} {task.description}"),
            TimeElapsedColumn(),
        )
        self._bar = Progress(*columns, console=Console(file=self._stream), transient=True)
        self._bar.add_task(what, total=None)
        self._bar.start()


def progress_for(stream: TextIO, *, quiet: bool) -> Progress:
    """What fits the stream: a counting line on a terminal, silence elsewhere."""
    return Spinner(stream) if not quiet and stream.isatty() else Quiet()
