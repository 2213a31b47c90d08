"""No workers: each batch is judged by this process when its answer is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class InProcessEngine:
    """The process itself; see ports.engines.Engine."""

    workers = 1

    def __init__(self) -> None:
        self._work: Callable[[Any], bytes] = _nothing

    def begin(self, work: Callable[[Any], bytes]) -> None:
        """Nothing has to be made ready."""
        self._work = work

    def submit(self, task: Any) -> Later:
        """A task for later."""
        return Later(self._work, task)

    def close(self) -> None:
        """Nobody has to be sent home."""


class Later:
    """Work that is done when its result is asked for."""

    def __init__(self, work: Callable[[Any], bytes], task: Any) -> None:
        self._work, self._task = work, task

    def result(self) -> bytes:
        """What it comes to."""
        return self._work(self._task)


def _nothing(_: Any) -> bytes:
    return b""
