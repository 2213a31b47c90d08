"""Remembers the tool calls of a message, to recognise them in a second list of the same message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.call_identity import build_recorded_call_key
from evalgate.adapters.formats.core.call_arguments import read_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.core.build.call_identity import CallKey
    from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest


class SeenCalls:
    """Calls by id, name and arguments: the id is not enough, as some recorders give all calls the same.

    Blocks of a streamed response may lack the arguments that the second list has.
    """

    def __init__(self, messages: Iterable[RawMessage]) -> None:
        self._calls: set[tuple[str | None, CallKey]] = set()
        self._keys: set[CallKey] = set()
        self._names: set[tuple[str | None, str]] = set()
        self._incomplete: dict[tuple[str | None, str], tuple[RawMessage, int]] = {}
        for message in messages:
            for index, request in enumerate(message.calls):
                key = _build_key(request)
                self._keys.add(key)
                self._remember(message, index, None)
                if request.id is None:
                    self._calls.add((None, key))
                else:
                    self.add(message, index)

    def add(self, message: RawMessage, index: int) -> None:
        """Adds a call; one without an id is ignored, so it never matches another call of the same list."""
        request = message.calls[index]
        if request.id is not None:
            self._calls.add((request.id, _build_key(request)))
            self._remember(message, index, request.id)

    def has_call(self, request: ToolRequest) -> bool:
        """True for a call that was added before; fills in its arguments if they were missing."""
        key = _build_key(request)
        if request.id is None:
            is_same = key in self._keys
        else:
            is_same = (request.id, key) in self._calls or (None, key) in self._calls
        if is_same:
            return True
        if not request.arguments:
            return (request.id, request.name) in self._names
        incomplete = self._incomplete.pop((request.id, request.name), None)
        if incomplete is None:
            return False
        message, index = incomplete
        message.calls[index] = message.calls[index]._replace(arguments=request.arguments)
        self.add(message, index)
        return True

    def _remember(self, message: RawMessage, index: int, call_id: str | None) -> None:
        request = message.calls[index]
        self._names.add((call_id, request.name))
        if not request.arguments or read_arguments(request.arguments).error is not None:
            self._incomplete.setdefault((call_id, request.name), (message, index))


def _build_key(request: ToolRequest) -> CallKey:
    return build_recorded_call_key(request.name, request.arguments)
