"""Finds the tool call that a result belongs to: by id, else by name, else in call order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ToolCall

Queues = dict[str | None, list[deque["ToolCall"]]]


class PendingCalls:
    """Calls that wait for a result. If several match, the first call of the latest step is taken.

    Ids may be missing or equal for all calls, and a killed run leaves calls without a result. In each case
    the time for a call must stay constant, however many there are.
    """

    __slots__ = ("_by_id", "_by_name", "_calls", "_indexed", "_next")

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._next = 0  # the first pending call of the latest step, as long as results come in order
        self._indexed = 0
        self._by_id: Queues = {}
        self._by_name: Queues = {}

    def add(self, call: ToolCall) -> None:
        """Adds a pending call."""
        if not self._calls or self._calls[-1]["step"] != call["step"]:
            self._next = len(self._calls)
        self._calls.append(call)

    def take(self, call_id: str | None, name: str | None) -> ToolCall | None:
        """Removes and returns the call that a result with this id or name belongs to; None if there is none."""
        if call_id is not None and self._next < len(self._calls):
            expected = self._calls[self._next]
            if expected["id"] == call_id and expected["status"] == "missing":
                self._next += 1
                return expected
        self._index()
        if call_id is not None:
            return _pop_pending(self._by_id, call_id) or _pop_pending(self._by_id, None)
        return (_pop_pending(self._by_name, name) if name else None) or _pop_pending(self._by_name, None)

    def _index(self) -> None:
        for call in self._calls[self._indexed :]:
            for queues, key in (
                (self._by_id, call["id"]),
                (self._by_name, call["name"]),
                (self._by_name, None),
            ):
                _push(queues.setdefault(key, []), call)
        self._indexed = len(self._calls)


def _push(steps: list[deque[ToolCall]], call: ToolCall) -> None:
    if steps and steps[-1] and steps[-1][-1]["step"] == call["step"]:
        steps[-1].append(call)
    else:
        steps.append(deque([call]))


def _pop_pending(queues: Queues, key: str | None) -> ToolCall | None:
    """The first pending call of the latest step that has one."""
    steps = queues.get(key, [])
    while steps:
        while steps[-1]:
            call = steps[-1].popleft()
            if call["status"] == "missing":
                return call
        steps.pop()
    return None
