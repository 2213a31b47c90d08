"""Matches the calls of one trace to steps that are tool names only, as most are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.measures.work_budget import WorkBudget


class NameMatcher:
    """Does what `CallMatcher` does, for such steps; `tools` has the name of each kind."""

    __slots__ = ("_names", "_positions", "_tools", "budget", "count")

    def __init__(self, names: Sequence[str], tools: Sequence[str], budget: WorkBudget) -> None:
        self._names, self._tools = names, tools
        self.count, self.budget = len(names), budget
        self._positions: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            self._positions.setdefault(name, []).append(at)

    def name(self, at: int) -> str:
        """Returns the tool of a call."""
        return self._names[at]

    def candidates(self, kind: int) -> Sequence[int]:
        """Returns the positions of calls of the kind's tool."""
        return self._positions.get(self._tools[kind], ())

    def accepts(self, kind: int, at: int) -> bool:
        """Returns whether it is the kind's tool."""
        return self._names[at] == self._tools[kind]

    def difference(self, kind: int, at: int) -> str | None:
        """Returns an empty text for the kind's tool, whose calls are never wrong; None for another."""
        return "" if self.accepts(kind, at) else None
