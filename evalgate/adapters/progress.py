"""Shows progress on a terminal once the work takes longer than a second."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.ports import Progress

    Share = Callable[[], float | None]

SHOW_AFTER_S = 1.0
"""Shorter runs show nothing."""
REFRESH_S = 0.1
"""Between updates of the line: drawing costs more than judging a trace."""
ESTIMATE_AFTER_S = 5.0
"""No estimate of the remaining time is shown earlier."""
MINUTES_FROM_S = 120


class SilentProgress:
    """Progress that shows nothing."""

    def begin(self, suite: str) -> None:
        """Does nothing."""

    def advance(self, what: str, count: int = 1) -> None:
        """Does nothing."""

    def finish(self) -> None:
        """Does nothing."""


class SpinnerProgress:
    """A line on stderr that counts traces; rich is imported only when the work turns out to be long.

    `share` returns the completed fraction of the work, 0 to 1, or None if unknown.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic, share: Share | None = None) -> None:
        self._stream = stream
        self._clock = clock
        self._share = share
        self._painted_at = 0.0
        self._start = clock()
        self._count = 0
        self._bar: Any = None
        self._is_rich_missing = False

    def begin(self, suite: str) -> None:
        """Does nothing: the count runs on over all suites."""

    def advance(self, what: str, count: int = 1) -> None:
        """Adds `count` to the number of finished `what`."""
        self._count += count
        if self._is_rich_missing:
            return
        now = self._clock()
        if self._bar is None and now - self._start > SHOW_AFTER_S:
            self._show(what)
        if self._bar is not None and now - self._painted_at > REFRESH_S:
            self._painted_at = now
            self._bar.update(0, completed=self._count, pace=self._pace(now - self._start), refresh=True)

    def finish(self) -> None:
        """Removes the line."""
        if self._bar is not None:
            self._bar.update(0, completed=self._count, refresh=True)
            self._bar.stop()
            self._bar = None

    def _show(self, what: str) -> None:
        try:
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        except ImportError:
            self._is_rich_missing = True  # the extra `terminal` is not installed: go on without progress
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.completed:,.0f} {task.description}"),
            TextColumn("{task.fields[pace]}"),
            TimeElapsedColumn(),
        )
        console = Console(file=self._stream)
        # No refresh thread: workers may still be forked.
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._bar.add_task(what, total=None, pace="")
        self._bar.start()

    def _pace(self, elapsed: float) -> str:
        """Items per second and, once it can be estimated, the remaining time."""
        pace = f"{self._count / elapsed:,.0f}/s"
        share = None if self._share is None else self._share()
        if not share or elapsed < ESTIMATE_AFTER_S:
            return pace
        return f"{pace}, {_in_words(elapsed * (1 - share) / share)} left"


def progress_for(stream: TextIO, *, quiet: bool, share: Share | None = None) -> Progress:
    """A progress line if the stream is a terminal, otherwise progress that shows nothing."""
    return SpinnerProgress(stream, share=share) if not quiet and stream.isatty() else SilentProgress()


def _in_words(seconds: float) -> str:
    """Formats a duration for people.

    >>> _in_words(95), _in_words(600)
    ('95 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < MINUTES_FROM_S else f"{seconds / 60:.0f} min"
