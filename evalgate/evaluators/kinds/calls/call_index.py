"""Index of the calls of one tool by the value of one argument."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from sys import maxsize
from typing import TYPE_CHECKING, Any

from evalgate.measures.sequences.repeats import json_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from evalgate.measures.sequences.argument_lookups import Lookup
    from evalgate.models.trace.trace import ToolCall

_SEPARATOR = "\n"
"""Separates texts that are joined to be searched together."""


class CallIndex:
    """Positions of calls by value; `length` is the length of all texts, which a search scans."""

    __slots__ = ("_all_text", "_by_key", "_ends", "_numbers", "_positions", "_texts", "_uncaptured", "length")

    def __init__(self, calls: Sequence[ToolCall], positions: Sequence[int], argument: str) -> None:
        self._uncaptured: list[int] = []
        self._by_key: dict[Hashable, list[int]] = {}
        self._texts: dict[str, list[int]] = {}
        self._numbers: list[tuple[float, int]] = []
        for at in positions:
            given = calls[at]["arguments"]
            if given is None:
                self._uncaptured.append(at)
            elif isinstance(given, dict) and argument in given:
                self._add_value(given[argument], at)
        self._numbers.sort()
        self._all_text = _SEPARATOR.join(self._texts)
        self._ends = list(accumulate(len(text) + len(_SEPARATOR) for text in self._texts))
        self._positions = list(self._texts.values())
        self.length = len(self._all_text)

    def _add_value(self, value: Any, at: int) -> None:
        positions = self._by_key.setdefault(json_key(value), [])
        positions.append(at)
        if isinstance(value, str):
            self._texts[value] = positions
        elif isinstance(value, int | float):
            self._numbers.append((value, at))

    def find(self, lookup: Lookup) -> list[int]:
        """Returns positions, in any order; includes calls whose arguments were not captured."""
        return [*self._look_up(lookup), *self._uncaptured]

    def _look_up(self, lookup: Lookup) -> list[int]:
        if lookup.part:
            return [at for number in self._find_texts(lookup.part) for at in self._positions[number]]
        if lookup.keys:
            return [at for key in lookup.keys for at in self._by_key.get(key, ())]
        low = bisect_left(self._numbers, (lookup.low, -1))
        high = bisect_left(self._numbers, (lookup.high, maxsize))
        return [at for _, at in self._numbers[low:high]]

    def _find_texts(self, part: str) -> Iterable[int]:
        """Yields the numbers of texts with this part; all if it is frequent, as filtering gains little."""
        if 4 * self._all_text.count(part) > len(self._ends):
            yield from range(len(self._ends))
            return
        found = self._all_text.find(part)
        while found >= 0:
            number = bisect_right(self._ends, found)
            yield number
            found = self._all_text.find(part, self._ends[number])
