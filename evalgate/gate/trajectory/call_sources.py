"""Where the arguments of calls came from, as far as two sides of a scenario are compared in it.

Finding sources takes longer than reading a trace. So they are compared only where a check of the scenario asks for
them, which finds them anyway, or where two finished runs are compared.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.behaviour import ComparedCall, FoundDifference
    from evalgate.models.trace.trace import Trace

MOST_VALUES = 50
"""Values of one call."""


def list_call_sources(trace: Trace, number: int) -> dict[str, list[str]]:
    """The sources of a call's short arguments (number from 1), by path, in words; those that are not known left out.

    A result that may only give back what the agent passed before is left out, too.
    """
    from evalgate.measures.provenance.leaves import is_free_text, list_leaves
    from evalgate.measures.provenance.trace_sources import find_argument_sources

    sources, found = find_argument_sources(trace), dict[str, list[str]]()
    leaves = (leaf for leaf in list_leaves(trace.agent_calls[number - 1]["arguments"]) if not is_free_text(leaf.value))
    for leaf in islice(leaves, MOST_VALUES):
        each = sources.find(number, leaf)
        words = {source.describe_kind() for source in each.sources if source.kind != "own" and not source.is_echo}
        if words or each.is_nowhere:
            found[leaf.path] = sorted(words) or ["nowhere"]
    return found


def compare_sources(
    before: Sequence[ComparedCall | None], now: Sequence[ComparedCall | None]
) -> Iterator[FoundDifference]:
    """Yields the sources of each argument that has one in all trials of a side, and none of them on the other."""
    for path in before[0].sources if before[0] else ():
        sides = [[set(call.sources.get(path, ()) if call else ()) for call in side] for side in (before, now)]
        first, second = (set[str].intersection(*side) for side in sides)
        if first and second and set[str].union(*sides[0]).isdisjoint(set[str].union(*sides[1])):
            yield "source", path, ", ".join(sorted(first)), ", ".join(sorted(second))
