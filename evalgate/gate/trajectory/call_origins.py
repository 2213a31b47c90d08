"""Who made the calls, and where their arguments came from, as far as two sides of a scenario are compared in it.

Finding sources takes longer than reading a trace. So they are compared only where a check of the scenario asks for
them, which finds them anyway, or where two finished runs are compared.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.behaviour import MAIN_AGENT, CallMaker
from evalgate.models.trace.actors import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.comparison.behaviour import Behaviour, ComparedCall, FoundDifference
    from evalgate.models.trace.trace import Trace

MOST_VALUES, MOST_NAMES = 50, 12
"""Values of one call, and calls that one line names."""


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


def compare_makers(before: Sequence[Behaviour], now: Sequence[Behaviour]) -> Iterator[FoundDifference]:
    """Yields the calls that change something and that another agent makes in all trials, by both agents.

    The sides make the same such calls, in the same order. An agent that only has another name is no other one.
    """
    moved: dict[tuple[CallMaker, CallMaker], dict[str, None]] = {}
    for rows in zip(*map(_list_changing, [*before, *now]), strict=True):
        first, second = _find_maker(rows[: len(before)]), _find_maker(rows[len(before) :])
        if first is not None and second is not None and _is_other(first, second):
            moved.setdefault((first, second), {})[rows[0].name] = None
    known = _list_makers(before), _list_makers(now)
    for (first, second), names in moved.items():
        is_path = first.path != second.path
        keys = [each._replace(agent=None) if is_path else each for each in (first, second)]
        if keys[0] in known[1] or keys[1] in known[0]:
            sides = [MAIN_AGENT if is_path and each.path == ROOT else redact(each.name) for each in (first, second)]
            left = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
            yield "maker", ", ".join([*names][:MOST_NAMES] + left), sides[0], sides[1]


def _list_changing(trial: Behaviour) -> list[ComparedCall]:
    return [call for call in trial.calls or () if call.changes]


def _find_maker(calls: Iterable[ComparedCall]) -> CallMaker | None:
    """The agent that makes a call in all trials; None if there are several, or it is unknown."""
    makers = {call.maker for call in calls}
    paths, agents = {each and each.path for each in makers}, {each and each.agent for each in makers}
    path = paths.pop()
    if paths or path is None:
        return None
    return CallMaker(path, agents.pop() if len(agents) == 1 else None)


def _is_other(first: CallMaker, second: CallMaker) -> bool:
    """Whether two agents differ: in their path, or both are named and have other names."""
    return first.path != second.path or (None not in (first.agent, second.agent) and first.agent != second.agent)


def _list_makers(side: Iterable[Behaviour]) -> set[CallMaker]:
    """The agents of a side, with and without their names; the main one is in every trace."""
    found = {call.maker for trial in side for call in trial.calls or () if call.maker is not None}
    return {*found, *(each._replace(agent=None) for each in found), CallMaker(ROOT)}
