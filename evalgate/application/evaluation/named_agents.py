"""Compares the agents that a suite's checks name with `agent:` with those that acted in its traces.

What an agent did that never acted is nothing, so that a check that forbids something of it passes. That is true, and
worth nothing if the name is misspelt or the agent was renamed. It is a warning below the heading and no failure: one
run can't distinguish it from an agent that was honestly not started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.evaluators.core.agents import ANY, is_of_agent, iter_agents
from evalgate.measures.text.similar_names import find_similar_name
from evalgate.measures.values.json_values import mark_name
from evalgate.models.trace.actors import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.errors import Location
    from evalgate.models.trace.trace import Message, ToolCall, Trace, Warning_
    from evalgate.suite.models import Suite

MAX_NAMES = 1_000
MAX_SHOWN = 5


class NamedAgents:
    """The agents that checks of a suite name, by name or glob, and those that acted in its traces."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._places: dict[str, Location | None] = {}
        for assertion in (each for scenario in suite.scenarios for each in scenario.assertions):
            for name in iter_agents(assertion.written):
                if name not in {ANY, ROOT} and len(self._places) < MAX_NAMES:
                    self._places.setdefault(name, assertion.location)
        self._acted: set[str] = set()
        self._missed = set(self._places)
        self._traces = 0

    def find_acting(self, trace: Trace) -> list[str]:
        """The names of those who acted in a trace, and the named agents or globs that they fit."""
        acts: list[ToolCall | Message] = [*trace.tool_calls, *trace.messages]
        records = {(each["actor"], each["agent"]): each for each in acts}
        spoken = [each for each in records.values() if each["actor"] is not None]
        names = {each["agent"] or (ROOT if each["actor"] == ROOT else "") for each in spoken} - {""}
        actors = {each["actor"] for each in spoken}
        acts_of = records.values()
        fitting = (name for name in self._places if name in actors or any(is_of_agent(each, name) for each in acts_of))
        return sorted({*sorted(names)[:MAX_NAMES], *fitting})

    def add(self, acting: Iterable[str]) -> None:
        """Adds those who acted in a trace."""
        self._traces += 1
        found = set(acting)
        self._missed -= found
        if len(self._acted) < MAX_NAMES:
            self._acted |= found - set(self._places)

    def list_warnings(self) -> Iterator[Warning_]:
        """Warns of each named agent that acted in no trace, if there is a trace."""
        for name, location in self._places.items() if self._traces else ():
            if name in self._missed:
                yield self._build_warning(name, location)

    def _build_warning(self, name: str, location: Location | None) -> Warning_:
        acted = sorted(self._acted)
        similar = find_similar_name(name, acted)
        others = f"did you mean {mark_name(similar)}?" if similar else f"those who did: {_list_names(acted)}"
        message = (
            f"suite {mark_name(self._suite.name)}: no agent {mark_name(name)} acted in any trace, so that a check of"
            f" what it must not do holds whatever happens; {others}"
        )
        where = self._suite.path if location is None else f"{location.file}:{location.line}"
        return {"code": "unknown_agent", "message": message, "where": where}


def _list_names(names: list[str]) -> str:
    left = len(names) - MAX_SHOWN
    return ", ".join(map(mark_name, names[:MAX_SHOWN])) + (f" and {left:,} more" if left > 0 else "")
