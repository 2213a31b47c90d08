"""Matches the calls of one trace to steps: looked up by tool and argument, judged once per kind of step."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from evalgate.evaluators.kinds.calls.call_index import CallIndex
from evalgate.evaluators.kinds.calls.steps import MATCHES
from evalgate.measures.work_budget import WorkBudget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.kinds.calls.steps import CompiledStep
    from evalgate.measures.sequences.argument_lookups import Lookup
    from evalgate.models.trace.trace import ToolCall

_LOOKED_UP = 4
"""Arguments of a step that are looked up to find the shortest list of calls."""
_SHORT = 4
"""Calls in a list that is short enough: no further argument is looked up."""
_CHARACTERS = 1_000
"""Characters that can be searched in the time of one lookup."""


class _Fitting(NamedTuple):
    """The alternatives of a kind of step for one tool, and their cost: 0 comparisons for a bare name."""

    alternatives: Sequence[CompiledStep]
    cost: int


class CallMatcher:
    """Calls by position from 0. `worst_match` is the worst judgement that still counts as a match.

    Once `budget` has run out, calls that were not compared match nothing.
    """

    __slots__ = (
        "_calls",
        "_fitting",
        "_index",
        "_judged",
        "_kinds",
        "_names",
        "_places",
        "count",
        "effort",
        "level",
    )

    def __init__(
        self, calls: Sequence[ToolCall], kinds: Sequence[Sequence[CompiledStep]], comparisons: int
    ) -> None:
        self.count = len(calls)
        self.level = MATCHES
        self.effort = WorkBudget(comparisons)
        self._calls = calls
        self._kinds = kinds
        self._names: dict[str, list[int]] = {}
        self._judged: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._places: dict[int, Sequence[int]] = {}
        self._index: dict[tuple[str, str], CallIndex] = {}
        self._fitting: dict[int, dict[str, _Fitting]] = {}
        for at, call in enumerate(calls):
            self._names.setdefault(call["name"], []).append(at)

    def name(self, at: int) -> str:
        """Returns the tool of a call."""
        return self._calls[at]["name"]

    def candidates(self, kind: int) -> Sequence[int]:
        """Returns positions of calls of the kind's tools that a lookup of arguments does not rule out."""
        if kind not in self._places:
            wanted = self._kinds[kind]
            found = [places for each in wanted for places in self._lists(each)]
            self._places[kind] = found[0] if len(found) == 1 else sorted(set().union(*found))
        return self._places[kind]

    def accepts(self, kind: int, at: int) -> bool:
        """Returns whether an alternative of the kind judges the call `worst_match` or better."""
        call = self._calls[at]
        fitting, cost = self._alternatives(kind, call["name"])
        if not cost:
            return bool(fitting)
        judged = self._judged[kind]
        verdict = judged.get(at)
        if verdict is None:
            if not self.effort.spend(cost):
                return False
            verdict = judged[at] = min([wanted.judge(call) for wanted in fitting])
        return verdict <= self.level

    def _alternatives(self, kind: int, name: str) -> _Fitting:
        """Finds a kind's alternatives for a tool; a bare name alone, if any, as it accepts every call."""
        by_name = self._fitting.setdefault(kind, {})
        if name not in by_name:
            found = [wanted for wanted in self._kinds[kind] if wanted.fits_name(name)]
            bare = [wanted for wanted in found if wanted.is_bare][:1]
            by_name[name] = _Fitting(bare, 0) if bare else _Fitting(found, sum(each.cost for each in found))
        return by_name[name]

    def has_judged(self, verdict: int) -> bool:
        """Returns whether any call was judged so."""
        return any(verdict in judged.values() for judged in self._judged.values())

    def first_judged(self, verdict: int) -> tuple[int, int]:
        """Returns the first call that was judged so, and the kind of step."""
        return min(
            (at, kind)
            for kind, judged in self._judged.items()
            for at, found in judged.items()
            if found == verdict
        )

    def difference(self, kind: int, at: int) -> str | None:
        """Returns what is wrong with a call of one of the kind's tools; None for another tool."""
        fitting = self._alternatives(kind, self.name(at)).alternatives
        return fitting[0].difference(self._calls[at]) if fitting else None

    def _lists(self, wanted: CompiledStep) -> list[Sequence[int]]:
        names = [wanted.tool] if wanted.tool in self._names else []
        if "*" in wanted.tool and self.effort.look(len(self._names)):
            names = [name for name in self._names if wanted.fits_name(name)]
        return [self._looked_up(name, wanted.lookups) for name in names]

    def _looked_up(self, name: str, lookups: Sequence[Lookup]) -> Sequence[int]:
        """Returns the shortest list that a lookup gives; calls without captured arguments are included."""
        everything = found = self._names[name]
        for lookup in lookups[:_LOOKED_UP]:
            if len(found) <= _SHORT:
                break
            index = self._indexed(name, lookup.name)
            if lookup.part and not self.effort.look(index.searched // _CHARACTERS):
                break
            found = min(found, index.find(lookup), key=len)
        if 2 * len(found) > len(everything) or not self.effort.look(len(found)):
            return everything
        return sorted(found)

    def _indexed(self, name: str, argument: str) -> CallIndex:
        if (name, argument) not in self._index:
            self._index[name, argument] = CallIndex(self._calls, self._names[name], argument)
        return self._index[name, argument]
