"""Remembers the tool calls of a message, to recognise them in a second list of the same message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.build.call_identity import key_as_recorded
from evalgate.adapters.formats.core.call_arguments import read_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.formats.core.build.call_identity import Key
    from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest


class SeenCalls:
    """Calls by id, name and arguments: the id is not enough, as some recorders give all calls the same.

    Blocks of a streamed response may lack the arguments that the second list has.
    """

    def __init__(self, messages: Iterable[RawMessage]) -> None:
        self._same: set[tuple[str | None, Key]] = set()
        self._alike: set[Key] = set()
        self._names: set[tuple[str | None, str]] = set()
        self._open: dict[tuple[str | None, str], tuple[RawMessage, int]] = {}
        for said in messages:
            for place, asked in enumerate(said.calls):
                key = _key(asked)
                self._alike.add(key)
                self._know(said, place, None)
                if asked.id is None:
                    self._same.add((None, key))
                else:
                    self.add(said, place)

    def add(self, said: RawMessage, place: int) -> None:
        """Adds a call; one without an id is ignored, so it never matches another call of the same list."""
        asked = said.calls[place]
        if asked.id is not None:
            self._same.add((asked.id, _key(asked)))
            self._know(said, place, asked.id)

    def has(self, asked: ToolRequest) -> bool:
        """True for a call that was added before; fills in its arguments if they were missing."""
        key = _key(asked)
        if asked.id is None:
            is_same = key in self._alike
        else:
            is_same = (asked.id, key) in self._same or (None, key) in self._same
        if is_same:
            return True
        if not asked.arguments:
            return (asked.id, asked.name) in self._names
        waiting = self._open.pop((asked.id, asked.name), None)
        if waiting is None:
            return False
        said, place = waiting
        said.calls[place] = said.calls[place]._replace(arguments=asked.arguments)
        self.add(said, place)
        return True

    def _know(self, said: RawMessage, place: int, call_id: str | None) -> None:
        asked = said.calls[place]
        self._names.add((call_id, asked.name))
        if not asked.arguments or read_arguments(asked.arguments).error is not None:
            self._open.setdefault((call_id, asked.name), (said, place))


def _key(asked: ToolRequest) -> Key:
    return key_as_recorded(asked.name, asked.arguments)
