"""Matches the calls of one trace to steps: looked up by tool and argument, judged once per kind of step."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import accumulate
from sys import maxsize
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.kinds.calls.steps import MATCHES
from evalgate.measures.sequences.bipartite import WorkBudget
from evalgate.measures.sequences.trajectory_metrics import json_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from evalgate.evaluators.kinds.calls.steps import CompiledStep
    from evalgate.measures.sequences.argument_matchers import Lookup
    from evalgate.models.trace.trace import ToolCall

_MAX_LOOKUPS = 4
"""Arguments of a step that are looked up to find the shortest list of calls."""
_SHORT_LIST = 4
"""Calls in a list that is short enough: no further argument is looked up."""
_CHARACTERS_PER_LOOKUP = 1_000
"""Characters that can be searched in the time of one lookup."""


class _Alternatives(NamedTuple):
    """The alternatives of a kind of step for one tool, and their cost: 0 comparisons for a bare name."""

    alternatives: Sequence[CompiledStep]
    cost: int


class CallMatcher:
    """Calls by position from 0. `worst_match` is the worst judgement that still counts as a match.

    Once `budget` has run out, calls that were not compared match nothing.
    """

    __slots__ = (
        "_alternatives_by_tool",
        "_calls",
        "_candidates",
        "_indexes",
        "_judgements",
        "_kinds",
        "_positions_by_name",
        "budget",
        "count",
        "worst_match",
    )

    def __init__(self, calls: Sequence[ToolCall], kinds: Sequence[Sequence[CompiledStep]], comparisons: int) -> None:
        self.count = len(calls)
        self.worst_match = MATCHES
        self.budget = WorkBudget(comparisons)
        self._calls = calls
        self._kinds = kinds
        self._positions_by_name: dict[str, list[int]] = {}
        self._judgements: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._candidates: dict[int, Sequence[int]] = {}
        self._indexes: dict[tuple[str, str], CallIndex] = {}
        self._alternatives_by_tool: dict[int, dict[str, _Alternatives]] = {}
        for at, call in enumerate(calls):
            self._positions_by_name.setdefault(call["name"], []).append(at)

    def name(self, at: int) -> str:
        """Returns the tool of a call."""
        return self._calls[at]["name"]

    def actor(self, at: int) -> str | None:
        """Returns who made a call; None if that is not known."""
        return self._calls[at]["actor"]

    def candidates(self, kind: int) -> Sequence[int]:
        """Returns positions of calls of the kind's tools that a lookup of arguments does not rule out."""
        if kind not in self._candidates:
            alternatives = self._kinds[kind]
            found = [places for each in alternatives for places in self._candidate_lists(each)]
            self._candidates[kind] = found[0] if len(found) == 1 else sorted(set().union(*found))
        return self._candidates[kind]

    def accepts(self, kind: int, at: int) -> bool:
        """Returns whether an alternative of the kind judges the call `worst_match` or better."""
        call = self._calls[at]
        alternatives, cost = self._find_alternatives(kind, call["name"])
        if not cost:
            return bool(alternatives)
        judgements = self._judgements[kind]
        judgement = judgements.get(at)
        if judgement is None:
            if not self.budget.spend(cost):
                return False
            judgement = judgements[at] = min([step.judge(call) for step in alternatives])
        return judgement <= self.worst_match

    def _find_alternatives(self, kind: int, name: str) -> _Alternatives:
        """Finds a kind's alternatives for a tool; a bare name alone, if any, as it accepts every call."""
        by_name = self._alternatives_by_tool.setdefault(kind, {})
        if name not in by_name:
            found = [step for step in self._kinds[kind] if step.fits_name(name)]
            bare = [step for step in found if step.is_bare][:1]
            by_name[name] = _Alternatives(bare, 0) if bare else _Alternatives(found, sum(each.cost for each in found))
        return by_name[name]

    def has_judged(self, judgement: int) -> bool:
        """Returns whether any call was judged so."""
        return any(judgement in judged.values() for judged in self._judgements.values())

    def first_judged(self, judgement: int) -> tuple[int, int]:
        """Returns the first call that was judged so, and the kind of step."""
        return min(
            (at, kind)
            for kind, judged in self._judgements.items()
            for at, found in judged.items()
            if found == judgement
        )

    def difference(self, kind: int, at: int) -> str | None:
        """Returns what is wrong with a call of one of the kind's tools; None for another tool."""
        alternatives = self._find_alternatives(kind, self.name(at)).alternatives
        return alternatives[0].difference(self._calls[at]) if alternatives else None

    def _candidate_lists(self, step: CompiledStep) -> list[Sequence[int]]:
        names = [step.tool] if step.tool in self._positions_by_name else []
        if "*" in step.tool and self.budget.spend_lookups(len(self._positions_by_name)):
            names = [name for name in self._positions_by_name if step.fits_name(name)]
        return [self._look_up(name, step.lookups) for name in names]

    def _look_up(self, name: str, lookups: Sequence[Lookup]) -> Sequence[int]:
        """Returns the shortest list that a lookup gives; calls without captured arguments are included."""
        positions = found = self._positions_by_name[name]
        for lookup in lookups[:_MAX_LOOKUPS]:
            if len(found) <= _SHORT_LIST:
                break
            index = self._get_index(name, lookup.name)
            if lookup.part and not self.budget.spend_lookups(index.length // _CHARACTERS_PER_LOOKUP):
                break
            found = min(found, index.find(lookup), key=len)
        if 2 * len(found) > len(positions) or not self.budget.spend_lookups(len(found)):
            return positions
        return sorted(found)

    def _get_index(self, name: str, argument: str) -> CallIndex:
        if (name, argument) not in self._indexes:
            self._indexes[name, argument] = CallIndex(self._calls, self._positions_by_name[name], argument)
        return self._indexes[name, argument]


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


class NameMatcher:
    """Does what `CallMatcher` does, for such steps; `tools` has the name of each kind."""

    __slots__ = ("_actors", "_names", "_positions", "_tools", "budget", "count")

    def __init__(
        self, names: Sequence[str], tools: Sequence[str], budget: WorkBudget, actors: Sequence[str | None] = ()
    ) -> None:
        self._names, self._tools, self._actors = names, tools, actors
        self.count, self.budget = len(names), budget
        self._positions: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            self._positions.setdefault(name, []).append(at)

    def name(self, at: int) -> str:
        """Returns the tool of a call."""
        return self._names[at]

    def actor(self, at: int) -> str | None:
        """Returns who made a call; None if that is not known."""
        return self._actors[at] if self._actors else None

    def candidates(self, kind: int) -> Sequence[int]:
        """Returns the positions of calls of the kind's tool."""
        return self._positions.get(self._tools[kind], ())

    def accepts(self, kind: int, at: int) -> bool:
        """Returns whether it is the kind's tool."""
        return self._names[at] == self._tools[kind]

    def difference(self, kind: int, at: int) -> str | None:
        """Returns an empty text for the kind's tool, whose calls are never wrong; None for another."""
        return "" if self.accepts(kind, at) else None
