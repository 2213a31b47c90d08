"""The calls of one trace, looked up by tool and argument, and judged once against each kind of step."""

from __future__ import annotations

from bisect import bisect_left
from sys import maxsize
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.steps import MATCHES
from evalgate.measures.argument_matchers import scalar_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.steps import Wanted
    from evalgate.measures.argument_matchers import Lookup
    from evalgate.models.trace import ToolCall

_LOOKED_UP = 4
"""Arguments of a step that are tried for the shortest list of calls."""


class Called:
    """Calls by position from 0. `level` is the worst judgement that still counts as a match.

    `left` is how many more comparisons are made; calls that are not compared match nothing, and `is_partial`
    says that there were some.
    """

    __slots__ = (
        "_by_argument",
        "_by_name",
        "_calls",
        "_judged",
        "_kinds",
        "_places",
        "count",
        "is_partial",
        "left",
        "level",
    )

    def __init__(self, calls: Sequence[ToolCall], kinds: Sequence[Sequence[Wanted]]) -> None:
        self.count = len(calls)
        self.level = MATCHES
        self.left = maxsize
        self.is_partial = False
        self._calls = calls
        self._kinds = kinds
        self._judged: dict[int, bytearray] = {}  # by kind, a byte a call: 0, or 1 more than the judgement
        self._places: dict[int, list[int]] = {}
        self._by_argument: dict[tuple[str, str], _Index] = {}
        self._by_name: dict[str, list[int]] = {}
        for at, call in enumerate(calls):
            self._by_name.setdefault(call["name"], []).append(at)

    def name(self, at: int) -> str:
        """The tool of a call."""
        return self._calls[at]["name"]

    def candidates(self, kind: int) -> Sequence[int]:
        """Where calls of the kind's tools stand, less those whose arguments rule them out at a look."""
        if kind not in self._places:
            wanted = self._kinds[kind]
            found = [places for each in wanted for places in self._lists(each)]
            self._places[kind] = found[0] if len(found) == 1 else sorted(set().union(*found))
        return self._places[kind]

    def accepts(self, kind: int, at: int) -> bool:
        """True where one of the kind's alternatives judges the call at least as well as `level`."""
        judged = self._judged.get(kind)
        if judged is None:
            judged = self._judged[kind] = bytearray(self.count)
        if not judged[at]:
            if not self.left:
                self.is_partial = True
                return False
            self.left -= 1
            judged[at] = 1 + self._judge(kind, at)
        return judged[at] <= 1 + self.level

    def _judge(self, kind: int, at: int) -> int:
        call, wanted = self._calls[at], self._kinds[kind]
        return wanted[0].judge(call) if len(wanted) == 1 else min(each.judge(call) for each in wanted)

    def difference(self, kind: int, at: int) -> str | None:
        """What is wrong with a call of one of the kind's tools; None where it is another tool."""
        fitting = [wanted for wanted in self._kinds[kind] if wanted.fits_name(self.name(at))]
        told = [wanted.difference(self._calls[at]) for wanted in fitting]
        return next(iter(told), None)

    def judged_as(self, verdict: int) -> list[tuple[int, int]]:
        """The (position, kind) pairs that were judged so."""
        return sorted(
            (at, kind)
            for kind, judged in self._judged.items()
            for at, found in enumerate(judged)
            if found == 1 + verdict
        )

    def _lists(self, wanted: Wanted) -> list[list[int]]:
        names = [wanted.tool] if wanted.tool in self._by_name else []
        if "*" in wanted.tool:
            names = [name for name in self._by_name if wanted.fits_name(name)]
        return [self._looked_up(name, wanted.lookups) for name in names]

    def _looked_up(self, name: str, lookups: Sequence[Lookup]) -> list[int]:
        """The shortest list that a lookup gives, and the calls whose arguments were not captured."""
        if not lookups:
            return self._by_name[name]
        indexes = [(self._index(name, lookup.name), lookup) for lookup in lookups[:_LOOKED_UP]]
        found = min((index.find(lookup) for index, lookup in indexes), key=len)
        return sorted({*found, *indexes[0][0].uncaptured})

    def _index(self, name: str, argument: str) -> _Index:
        if (name, argument) not in self._by_argument:
            self._by_argument[name, argument] = _Index(self._calls, self._by_name[name], argument)
        return self._by_argument[name, argument]


class _Index:
    """Calls of one tool by the plain value of one argument."""

    __slots__ = ("_by_key", "_numbers", "uncaptured")

    def __init__(self, calls: Sequence[ToolCall], places: Sequence[int], argument: str) -> None:
        self.uncaptured: list[int] = []
        self._by_key: dict[Any, list[int]] = {}
        self._numbers: list[tuple[float, int]] = []
        for at in places:
            given = calls[at]["arguments"]
            if given is None:
                self.uncaptured.append(at)
            elif isinstance(given, dict) and argument in given:
                self._add(given[argument], at)
        self._numbers.sort()

    def _add(self, value: Any, at: int) -> None:
        if isinstance(value, dict | list):
            return
        self._by_key.setdefault(scalar_key(value), []).append(at)
        if isinstance(value, int | float):
            self._numbers.append((value, at))

    def find(self, lookup: Lookup) -> list[int]:
        """Positions, in any order."""
        if lookup.keys:
            return [at for key in lookup.keys for at in self._by_key.get(key, ())]
        low = bisect_left(self._numbers, (lookup.low, -1))
        high = bisect_left(self._numbers, (lookup.high, maxsize))
        return [at for _, at in self._numbers[low:high]]
