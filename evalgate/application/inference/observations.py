"""What all passing traces together show: which tools come and go, how their arguments look, what precedes what."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

from evalgate.application.evaluation.scenario_matcher import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.trace.trace import Trace

MAX_TOOLS = 100
"""Most tools that rules about pairs are learnt for."""
SUPPORT = 10
"""Traces that must show a rule about all scenarios."""
MIN_RUNS = 5
"""Runs with a tool from which it is known which others it needs."""
STEADY_SHARE = 0.8
MIN_SCENARIOS = 3
"""Scenarios from which a tool can be seen to come and go."""


class TraceSet:
    """The passing traces of a set, by scenario; the order of the traces makes no difference."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        groups: dict[str, list[Trace]] = {}
        for trace in traces:
            if trace.scenario_id is not None:
                groups.setdefault(trace.scenario_id, []).append(trace)
        self.scenarios: Mapping[str, Sequence[Trace]] = {id_: groups[id_] for id_ in sorted(groups, key=natural)}

    @cached_property
    def traces(self) -> Sequence[Trace]:
        """All traces."""
        return [trace for group in self.scenarios.values() for trace in group]

    @cached_property
    def tools(self) -> Sequence[str]:
        """The names of all tools that were called, sorted."""
        return sorted({name for trace in self.traces for name in trace.called})

    @cached_property
    def compared(self) -> frozenset[str]:
        """The tools of which pairs are compared: their number grows with the square."""
        return frozenset(self.tools[:MAX_TOOLS])

    @cached_property
    def stability(self) -> Mapping[str, tuple[int, int]]:
        """For each tool, in how many scenarios with several trials all of them call it, of those where any does."""
        found: dict[str, tuple[int, int]] = {}
        for group in self.scenarios.values():
            if len(group) > 1:
                for name in {name for trace in group for name in trace.called}:
                    always, ever = found.get(name, (0, 0))
                    found[name] = always + all(name in trace.called for trace in group), ever + 1
        return found

    def is_steady(self, tool: str) -> bool:
        """Whether trials that pass agree on calling this tool, as far as the scenarios show."""
        always, ever = self.stability.get(tool, (0, 0))
        return ever < MIN_SCENARIOS or always >= STEADY_SHARE * ever

    @cached_property
    def never_after(self) -> Mapping[tuple[str, str], int]:
        """Pairs of tools of which the first is never called after the second, with the traces that call both."""
        both, kept = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for trace in self.traces:
            both.update(permutations(sorted(self.compared.intersection(trace.called)), 2))
            kept.update(list_ordered_pairs(trace, self.compared))
        found = {pair: count for pair, count in both.items() if count >= SUPPORT and kept[pair] == count}
        return dict(sorted((pair, found[pair]) for pair in reduce_pairs(found)))

    @cached_property
    def companions(self) -> Mapping[tuple[str, str], int]:
        """Pairs of a tool that every run calls that calls the other, with the traces that call the other."""
        calls, both = Counter[str](), Counter[tuple[str, str]]()
        for trace in self.traces:
            names = sorted(self.compared.intersection(trace.called))
            calls.update(names)
            both.update(permutations(names, 2))
        found = {pair: count for pair, count in both.items() if calls[pair[1]] >= MIN_RUNS and count == calls[pair[1]]}
        return dict(sorted((pair, found[pair]) for pair in reduce_pairs(found)))

    def list_arguments(self, tool: str) -> Sequence[Mapping[str, Any]]:
        """The captured arguments of all calls of a tool."""
        return [
            call["arguments"]
            for trace in self.traces
            for call in trace.agent_calls
            if call["name"] == tool and isinstance(call["arguments"], dict)
        ]


def list_ordered_pairs(trace: Trace, tools: frozenset[str]) -> set[tuple[str, str]]:
    """Pairs of these tools of which all calls of the first precede all of the second; parallel calls have no order."""
    first: dict[str, tuple[int, int]] = {}
    last: dict[str, tuple[int, int]] = {}
    for at, call in enumerate(trace.agent_calls):
        if call["name"] in tools:
            place = at, call["step"]
            first.setdefault(call["name"], place)
            last[call["name"]] = place
    return {
        (a, b)
        for a, (at, step) in last.items()
        for b, (other, other_step) in first.items()
        if a != b and at < other and (not step or step != other_step)
    }


def reduce_pairs(pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs without those that follow from two others."""
    found = set(pairs)
    after: dict[str, set[str]] = {}
    for a, b in found:
        after.setdefault(a, set()).add(b)
    return {(a, b) for a, b in found if not any((c, b) in found for c in after[a] if c != b)}
