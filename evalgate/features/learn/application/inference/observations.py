"""What all passing traces together show: which tools come and go, how their arguments look, what precedes what."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

from evalgate.application.evaluation.scenario_matcher import natural
from evalgate.features.learn.application.inference.checks import MANY
from evalgate.features.learn.application.inference.ordering import list_ordered_pairs
from evalgate.features.learn.measures.argument_sources import list_defined_arguments
from evalgate.features.learn.measures.usable_names import is_usable_name
from evalgate.measures.text.tool_words import changes_something, has_effect, may_harm
from evalgate.models.trace.trace import NO_KINDS
from evalgate.models.trace.trace_view import list_evidence
from evalgate.scoring.outage import find_outage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.trace.trace import ToolKinds, Trace

MAX_TOOLS = 100
"""Most tools that rules about pairs are learnt for."""
SUPPORT = 10
"""Traces that must show a rule about all scenarios."""
MIN_RUNS = 5
"""Runs with a tool from which it is known which others it needs."""
CHANCE = 0.05
"""How likely it may be that a tool was called in all these runs by chance."""
STEADY_SHARE = 0.8
MIN_SCENARIOS = 3
"""Scenarios from which a tool can be seen to come and go."""


class TraceSet:
    """The passing and the failed traces of a set, by scenario; the order of the traces makes no difference."""

    def __init__(self, traces: Iterable[Trace], failed: Iterable[Trace] = (), tools: Iterable[str] = ()) -> None:
        """`tools` are the names of tools that other traces call."""
        self._other_tools = frozenset(tools)
        groups = _group(traces)
        self.scenarios: Mapping[str, Sequence[Trace]] = {id_: groups[id_] for id_ in sorted(groups, key=natural)}
        self.failed: Mapping[str, Sequence[Trace]] = _group(filter(_shows_failure, failed))
        """The trials of each scenario that did not pass, but for those that an outage or a gap in them explains."""

    @cached_property
    def traces(self) -> Sequence[Trace]:
        """All traces."""
        return [trace for group in self.scenarios.values() for trace in group]

    @property
    def _kinds(self) -> ToolKinds:
        return self.traces[0].tool_kinds if self.traces else NO_KINDS

    def has_effect(self, tool: str) -> bool:
        """Whether the name of a tool, or who knows it, says that it changes something."""
        return has_effect(tool, self._kinds)

    @cached_property
    def tools(self) -> Sequence[str]:
        """The names of all tools that were called, sorted."""
        return sorted(self._other_tools.union(*(trace.called for trace in self.traces)))

    @cached_property
    def compared(self) -> frozenset[str]:
        """The tools of which pairs are compared: their number grows with the square."""
        return frozenset(list(filter(is_usable_name, self.tools))[:MAX_TOOLS])

    @cached_property
    def stability(self) -> Mapping[str, tuple[int, int]]:
        """For each tool, in how many scenarios with several trials all of them call it, of those where any does."""
        found: dict[str, tuple[int, int]] = {}
        for group in self.scenarios.values():
            if len(group) > 1:
                called = [set(trace.called) for trace in group]
                common = set.intersection(*called)
                for name in set().union(*called):
                    always, ever = found.get(name, (0, 0))
                    found[name] = always + (name in common), ever + 1
        return found

    @cached_property
    def changes_counted_alike(self) -> frozenset[str]:
        """Tools that may change something and that all trials of each scenario with several call equally often.

        Of a tool whose name has no word for a change two scenarios must show it.
        """
        seen: Counter[str] = Counter()
        differing: set[str] = set()
        for group in self.scenarios.values():
            if len(group) > 1:
                counts = [Counter(trace.called) for trace in group]
                names = set().union(*counts)
                seen.update(names)
                differing.update(name for name in names if len({each[name] for each in counts}) > 1)
        counted = self.changing & seen.keys() - differing
        return frozenset(name for name in counted if seen[name] > 1 or self.has_effect(name))

    @cached_property
    def changing(self) -> frozenset[str]:
        """Tools that may change something, by what any of the traces says of them."""
        return frozenset(
            name
            for trace in self.traces
            for name in set(trace.called)
            if changes_something(name, trace.tool_definitions, trace.tool_kinds)
        )

    def is_steady(self, tool: str) -> bool:
        """Whether trials that pass agree on calling this tool, as far as the scenarios show."""
        always, ever = self.stability.get(tool, (0, 0))
        return ever < MIN_SCENARIOS or always >= STEADY_SHARE * ever

    @cached_property
    def never_after(self) -> Mapping[tuple[str, str], int]:
        """Pairs of tools of which the first is never called after the second in many traces, with their number."""
        return {pair: count for pair, count in self.kept_orders.items() if count >= SUPPORT}

    @cached_property
    def kept_orders(self) -> Mapping[tuple[str, str], int]:
        """Pairs of tools of which the first is never called after the second, with the traces that call both."""
        both, kept = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for trace in self.traces:
            both.update(permutations(sorted(self.compared.intersection(trace.called)), 2))
            kept.update(list_ordered_pairs(trace, self.compared))
        return {pair: count for pair, count in both.items() if count >= MANY and kept[pair] == count}

    @cached_property
    def companions(self) -> Mapping[str, Mapping[str, int]]:
        """For a tool those that no run calls without it, with the number of runs that call them."""
        calls, both = Counter[str](), Counter[tuple[str, str]]()
        for trace in self.traces:
            names = sorted(self.compared.intersection(trace.called))
            calls.update(names)
            both.update(permutations(names, 2))
        pairs = {pair for pair, count in both.items() if calls[pair[1]] >= MIN_RUNS and count == calls[pair[1]]}
        found: dict[str, dict[str, int]] = {}
        for first, second in sorted(_reduce_pairs(pairs)):
            found.setdefault(first, {})[second] = calls[second]
        count = len(self.traces)
        return {
            first: seconds
            for first, seconds in found.items()
            if (calls[first] / count) ** self._count_runs(seconds) <= CHANCE
        }

    def _count_runs(self, tools: Iterable[str]) -> int:
        """Number of runs that call any of these tools."""
        wanted = set(tools)
        return sum(not wanted.isdisjoint(trace.called) for trace in self.traces)

    @cached_property
    def acts(self) -> Sequence[str]:
        """The tools that change something outside of the conversation, sorted."""
        found = {name for name in self._other_tools if may_harm(name, (), self._kinds)}
        for trace in self.traces:
            found.update(name for name in set(trace.called) if may_harm(name, trace.tool_definitions, trace.tool_kinds))
        return sorted(filter(is_usable_name, found))

    @cached_property
    def defined_arguments(self) -> Mapping[str, frozenset[str]]:
        """The arguments that the definitions of called tools have, by tool."""
        found: dict[str, frozenset[str]] = {}
        for trace in self.traces:
            for name in set(trace.called):
                found[name] = found.get(name, frozenset()) | list_defined_arguments(trace, name)
        return found

    @cached_property
    def unusable(self) -> Sequence[str]:
        """The tools that no suite can name, sorted."""
        return [tool for tool in self.tools if not is_usable_name(tool)]

    @cached_property
    def unsteady(self) -> Sequence[str]:
        """The tools that are required nowhere, since passing trials of the same scenario differ in them."""
        return [tool for tool in self.tools if not self.is_steady(tool)]

    @cached_property
    def arguments(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The captured arguments of all calls, by tool."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for trace in self.traces:
            for call in trace.agent_calls:
                if isinstance(call["arguments"], dict):
                    found.setdefault(call["name"], []).append(call["arguments"])
        return found


def _group(traces: Iterable[Trace]) -> dict[str, list[Trace]]:
    """Traces by their scenario, without those that have none."""
    groups: dict[str, list[Trace]] = {}
    for trace in traces:
        if trace.scenario_id is not None:
            groups.setdefault(trace.scenario_id, []).append(trace)
    return groups


def _shows_failure(trace: Trace) -> bool:
    return find_outage(trace) is None and list_evidence(trace)["calls"] == "complete"


def _reduce_pairs(pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs without those that follow from two others; tools that all need each other are one ring.

    >>> sorted(_reduce_pairs({("a", "b"), ("b", "c"), ("a", "c")}))
    [('a', 'b'), ('b', 'c')]
    >>> sorted(_reduce_pairs({("a", "b"), ("b", "a"), ("a", "c"), ("b", "c")}))
    [('a', 'b'), ('a', 'c'), ('b', 'a')]
    """
    found = set(pairs)
    equal: dict[str, set[str]] = {tool: {tool} for pair in found for tool in pair}
    for a, b in found:
        if (b, a) in found:
            equal[a].add(b)
    first_of = {tool: min(others) for tool, others in equal.items()}
    ordered = {(first_of[a], first_of[b]) for a, b in found if first_of[a] != first_of[b]}
    after: dict[str, set[str]] = {}
    for a, b in ordered:
        after.setdefault(a, set()).add(b)
    rings = {tuple(sorted(ring)) for ring in equal.values() if len(ring) > 1}
    return {
        *((a, b) for a, b in ordered if not any((c, b) in ordered for c in after[a] if c != b)),
        *((a, b) for ring in rings for a, b in zip(ring, (*ring[1:], ring[0]), strict=True)),
    }
