"""Which tools come before which others: pairs that hold, written as few checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.features.learn.application.inference.checks import InferredCheck, choose_one
from evalgate.measures.provenance.leaves import is_trivial, list_leaves
from evalgate.measures.provenance.trace_sources import find_argument_sources
from evalgate.measures.text.tool_words import changes_something

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.measures.provenance.sources import FoundSources
    from evalgate.models.trace.trace import ToolCall, Trace

Pair = tuple[str, str]
"""Two tools of which the first is called before the other."""


class OrderRule(NamedTuple):
    """No call of any of the first tools comes after one of any of the later tools."""

    first: frozenset[str]
    later: frozenset[str]

    @property
    def pairs(self) -> set[Pair]:
        """Each of the first tools with each of the later ones."""
        return {(a, b) for a in self.first for b in self.later}

    def narrow(self, pairs: Collection[Pair]) -> OrderRule:
        """The rule without tools that add none of these pairs."""
        added = self.pairs.intersection(pairs)
        return OrderRule(frozenset(a for a, _ in added), frozenset(b for _, b in added))

    def build_check(self) -> InferredCheck:
        """The check of this rule: the other order must not occur."""
        sequence = [choose_one(self.later), choose_one(self.first)]
        return InferredCheck({"not": {"type": "tool_sequence", "sequence": sequence}}, self._describe())

    def _describe(self) -> str:
        if len(self.first) == 1:
            return f"{min(self.first)} first"
        return f"{min(self.later)} last" if len(self.later) == 1 else ""


def cover_pairs(pairs: Collection[Pair], most: int) -> list[OrderRule]:
    """At most `most` rules that together hold as many of the pairs as can be found; each rule holds only these pairs.

    >>> [sorted(rule.later) for rule in cover_pairs({("a", "c"), ("b", "c"), ("a", "d"), ("b", "d")}, 2)]
    [['c', 'd']]
    """
    candidates = sorted(set(_list_candidates(pairs)), key=lambda rule: (len(rule.pairs), sorted(rule.pairs)))
    left = set(pairs)
    rules: list[OrderRule] = []
    while left and len(rules) < most:
        best = max(candidates, key=lambda rule: len(rule.pairs & left))  # of equals the first: the one with fewer pairs
        rules.append(best.narrow(left))
        left -= best.pairs
    return rules


def _list_candidates(pairs: Collection[Pair]) -> Iterator[OrderRule]:
    """For each tool the largest rule with all that comes after it, and the largest with all that comes before it."""
    after: dict[str, set[str]] = {}
    before: dict[str, set[str]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)
        before.setdefault(b, set()).add(a)
    for later in after.values():
        yield OrderRule(frozenset(a for a, theirs in after.items() if theirs >= later), frozenset(later))
    for first in before.values():
        yield OrderRule(frozenset(first), frozenset(b for b, theirs in before.items() if theirs >= first))


def divide_into_layers(tools: Sequence[str], pairs: Collection[Pair]) -> list[list[str]]:
    """The tools in groups, each of which comes before all of the following ones; one group if there is no order.

    Within a group they stay in the order of `tools`.

    >>> divide_into_layers(["a", "c", "b"], {("b", "a"), ("c", "a")})
    [['c', 'b'], ['a']]
    """
    known = set(pairs)
    ordered = sorted(tools, key=lambda tool: sum((other, tool) in known for other in tools))
    layers: list[list[str]] = [[]]
    for at, tool in enumerate(ordered):
        if at and all((first, later) in known for first in ordered[:at] for later in ordered[at:]):
            layers.append([])
        layers[-1].append(tool)
    return [layer for layer in layers if layer]


def are_parallel(call: ToolCall, other: ToolCall) -> bool:
    """Whether one message made both calls, as far as it is known."""
    return call["step"] != 0 and call["step"] == other["step"]


def is_habit(trace: Trace, first: Collection[str], later: str) -> bool:
    """Whether a look-up could as well be made before others: no argument of it is known from their results alone."""
    if any(changes_something(name, trace.tool_definitions, trace.tool_kinds) for name in (*first, later)):
        return False
    sources = find_argument_sources(trace)
    leaves = (
        sources.find(number, leaf)
        for number, call in enumerate(trace.agent_calls, 1)
        if call["name"] == later
        for leaf in list_leaves(call["arguments"])
        if not is_trivial(leaf.value)
    )
    return not any(_may_need(each, first) for each in leaves)


def _may_need(found: FoundSources, tools: Collection[str]) -> bool:
    """Whether a value is from results of these tools and from nowhere else, or may be."""
    known = [each for each in found.sources if each.kind != "own"]
    if not known:
        return found.unknown is not None
    return all(each.kind in ("result", "sum") and each.tool in tools for each in known)


def list_ordered_pairs(trace: Trace, tools: frozenset[str]) -> set[Pair]:
    """Pairs of these tools of which all calls of the first precede all of the second; parallel calls have no order."""
    first: dict[str, tuple[int, ToolCall]] = {}
    last: dict[str, tuple[int, ToolCall]] = {}
    for at, call in enumerate(trace.agent_calls):
        if call["name"] in tools:
            place = at, call
            first.setdefault(call["name"], place)
            last[call["name"]] = place
    return {
        (a, b)
        for a, (at, call) in last.items()
        for b, (later, following) in first.items()
        if a != b and at < later and not are_parallel(call, following)
    }


def find_common_order(trials: Sequence[Trace], tools: frozenset[str]) -> set[Pair]:
    """Pairs of tools that all trials call in this order only."""
    return set.intersection(*(list_ordered_pairs(trace, tools) for trace in trials))
