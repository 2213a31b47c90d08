"""Progress for people who watch: on a terminal only, and only once the work takes a while."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.ports import Progress

    Share = Callable[[], float | None]

PATIENCE_S = 1.0
"""Shorter runs show nothing."""
BETWEEN_S = 0.1
"""Between looks at the clock's hands: painting costs more than judging a trace."""
SURE_S = 5.0
"""Before that much time nothing is said of how much is left."""
UP_TO_S = 120


class Quiet:
    """Shows nothing."""

    def begin(self, suite: str) -> None:
        """Nothing is shown."""

    def advance(self, what: str, count: int = 1) -> None:
        """Nothing is shown."""

    def finish(self) -> None:
        """Nothing was shown."""


class Spinner:
    """A line on stderr that counts; rich is imported only when the work turns out to be long.

    `share` tells how much of the work is done, from 0 to 1, as far as that is known.
    """

    def __init__(
        self, stream: TextIO, clock: Callable[[], float] = monotonic, share: Share | None = None
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._share = share
        self._painted = 0.0
        self._start = clock()
        self._count = 0
        self._bar: Any = None
        self._missing = False

    def begin(self, suite: str) -> None:
        """The line counts on over all suites."""

    def advance(self, what: str, count: int = 1) -> None:
        """`count` more of `what` are done."""
        self._count += count
        if self._missing:
            return
        now = self._clock()
        if self._bar is None and now - self._start > PATIENCE_S:
            self._open(what)
        if self._bar is not None and now - self._painted > BETWEEN_S:
            self._painted = now
            self._bar.update(0, completed=self._count, pace=self._pace(now - self._start), refresh=True)

    def finish(self) -> None:
        """The line is taken away."""
        if self._bar is not None:
            self._bar.update(0, completed=self._count, refresh=True)
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
            TextColumn("{task.fields[pace]}"),
            TimeElapsedColumn(),
        )
        console = Console(file=self._stream)
        # No thread that paints: workers may still be forked.
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._bar.add_task(what, total=None, pace="")
        self._bar.start()

    def _pace(self, elapsed: float) -> str:
        """How many a second and, once that can be told, how much time is left."""
        pace = f"{self._count / elapsed:,.0f}/s"
        share = None if self._share is None else self._share()
        if not share or elapsed < SURE_S:
            return pace
        return f"{pace}, {_in_words(elapsed * (1 - share) / share)} left"


def progress_for(stream: TextIO, *, quiet: bool, share: Share | None = None) -> Progress:
    """What fits the stream: a counting line on a terminal, silence elsewhere."""
    return Spinner(stream, share=share) if not quiet and stream.isatty() else Quiet()


def _in_words(seconds: float) -> str:
    """A time as people say it.

    >>> _in_words(95), _in_words(600)
    ('95 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < UP_TO_S else f"{seconds / 60:.0f} min"
