"""An engine without workers: this process judges each batch when its result is requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class InProcessEngine:
    """Judges in this process; implements `Engine`."""

    workers = 1

    def __init__(self) -> None:
        self._work: Callable[[Any], bytes] = _no_work

    def begin(self, work: Callable[[Any], bytes]) -> None:
        """Sets the function that judges a task."""
        self._work = work

    def submit(self, task: Any) -> DeferredResult:
        """Returns a result that runs the task when it is requested."""
        return DeferredResult(self._work, task)

    def close(self) -> None:
        """Does nothing: there are no workers."""


class DeferredResult:
    """A task that runs when its result is requested; implements `PendingResult`."""

    def __init__(self, work: Callable[[Any], bytes], task: Any) -> None:
        self._work, self._task = work, task

    def result(self) -> bytes:
        """Runs the task and returns its result."""
        return self._work(self._task)


def _no_work(_: Any) -> bytes:
    return b""
