"""The calls of one trace where a step is a tool's name and nothing more, as most are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.work_budget import WorkBudget


class NameMatcher:
    """What `called.Called` tells of such calls; `tools` has the name of each kind."""

    __slots__ = ("_names", "_places", "_tools", "count", "effort")

    def __init__(self, names: Sequence[str], tools: Sequence[str], effort: WorkBudget) -> None:
        self._names, self._tools = names, tools
        self.count, self.effort = len(names), effort
        self._places: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            self._places.setdefault(name, []).append(at)

    def name(self, at: int) -> str:
        """The tool of a call."""
        return self._names[at]

    def candidates(self, kind: int) -> Sequence[int]:
        """Where calls of the kind's tool stand."""
        return self._places.get(self._tools[kind], ())

    def accepts(self, kind: int, at: int) -> bool:
        """True where it is the kind's tool."""
        return self._names[at] == self._tools[kind]

    def difference(self, kind: int, at: int) -> str | None:
        """Nothing can be wrong with a call of the kind's tool; None where it is another."""
        return "" if self.accepts(kind, at) else None
