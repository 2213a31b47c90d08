"""Sends parts of a run side by side, over few connections and for a bounded time."""

from __future__ import annotations

from collections import deque
from threading import Lock, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from evalgate.errors import TrackerRefused, TrackerUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.features.track.adapters.sender import TrackerSender

Item = TypeVar("Item")
CONNECTIONS = 4
SHORTEST = 0.25
"""Seconds that must be left for a request to be worth it."""


class SideBySide(Generic[Item]):
    """Does the same work for each item, in the order of the items, until all are done or the time is used up."""

    def __init__(self, items: Sequence[Item], work: Callable[[TrackerSender, Item], None]) -> None:
        self._left, self._work = deque(items), work
        self._lock = Lock()
        self._failure: Exception | None = None
        self._late: Exception | None = None
        self._done = 0

    def run(self, sender: TrackerSender, seconds: float) -> int:
        """How many items were done within the seconds; raises what failed before they were used up, or was all."""
        senders = [sender.open_another(seconds) for _ in range(min(CONNECTIONS, len(self._left)))]
        threads = [Thread(target=self._run_one, args=(each,), daemon=True) for each in senders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sender.spend(max((seconds - each.seconds_left() for each in senders), default=0.0))
        failure = self._failure if self._done else self._failure or self._late
        if failure is not None:
            raise failure
        return self._done

    def _run_one(self, sender: TrackerSender) -> None:
        while self._failure is None and sender.seconds_left() > SHORTEST:
            with self._lock:
                if not self._left:
                    break
                item = self._left.popleft()
            try:
                self._work(sender, item)
            except (TrackerRefused, TrackerUnreachable) as error:
                if sender.seconds_left() > SHORTEST:
                    self._failure = error
                else:
                    self._late = error
            except Exception as error:  # noqa: BLE001 - raised again in the waiting thread
                self._failure = error
            else:
                with self._lock:
                    self._done += 1
        sender.close()
