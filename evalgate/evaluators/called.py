"""The calls of one trace, looked up by tool and argument, and judged once against each kind of step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.evaluators.steps import MATCHES
from evalgate.measures.argument_matchers import scalar_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.steps import Wanted
    from evalgate.models.trace import ToolCall

_LOOKED_UP = 4
"""Arguments of a step that are tried for the shortest list of calls."""


class Called:
    """Calls by position from 0. `level` is the worst judgement that still counts as a match."""

    __slots__ = ("_by_argument", "_by_name", "_calls", "_judged", "_kinds", "_places", "count", "level")

    def __init__(self, calls: Sequence[ToolCall], kinds: Sequence[Sequence[Wanted]]) -> None:
        self.count = len(calls)
        self.level = MATCHES
        self._calls = calls
        self._kinds = kinds
        self._judged: list[dict[int, int]] = [{} for _ in kinds]
        self._places: dict[int, list[int]] = {}
        self._by_argument: dict[tuple[str, str], dict[Any, list[int]]] = {}
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
        judged = self._judged[kind]
        verdict = judged.get(at)
        if verdict is None:
            call = self._calls[at]
            verdict = judged[at] = min(wanted.judge(call) for wanted in self._kinds[kind])
        return verdict <= self.level

    def difference(self, kind: int, at: int) -> str | None:
        """What is wrong with a call of one of the kind's tools; None where it is another tool."""
        fitting = [wanted for wanted in self._kinds[kind] if wanted.fits_name(self.name(at))]
        told = [wanted.difference(self._calls[at]) for wanted in fitting]
        return next(iter(told), None)

    def judged_as(self, verdict: int) -> list[tuple[int, int]]:
        """The (position, kind) pairs that were judged so."""
        return sorted(
            (at, kind)
            for kind, judged in enumerate(self._judged)
            for at, found in judged.items()
            if found == verdict
        )

    def _lists(self, wanted: Wanted) -> list[list[int]]:
        names = [wanted.tool] if wanted.tool in self._by_name else []
        if "*" in wanted.tool:
            names = [name for name in self._by_name if wanted.fits_name(name)]
        return [self._with_literals(name, wanted.literals) for name in names]

    def _with_literals(self, name: str, literals: Sequence[tuple[str, Any]]) -> list[int]:
        if not literals:
            return self._by_name[name]
        tried = [self._index(name, argument).get(key, []) for argument, key in literals[:_LOOKED_UP]]
        unknown = self._index(name, "").get(None, [])
        return sorted({*min(tried, key=len), *unknown})

    def _index(self, name: str, argument: str) -> dict[Any, list[int]]:
        """Positions by the value of an argument; under None those whose arguments were not captured."""
        if (name, argument) not in self._by_argument:
            index: dict[Any, list[int]] = {}
            for at in self._by_name[name]:
                given = self._calls[at]["arguments"]
                if given is None:
                    index.setdefault(None, []).append(at)
                elif isinstance(given, dict) and argument in given:
                    value = given[argument]
                    if not isinstance(value, dict | list):
                        index.setdefault(scalar_key(value), []).append(at)
            self._by_argument[name, argument] = index
        return self._by_argument[name, argument]
