"""Who made the calls, prompts and tools of other agents, and where arguments came from, as far as these are compared.

Finding sources takes longer than reading a trace. So they are compared only where a check of the scenario asks for
them, which finds them anyway, or where two finished runs are compared.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.evaluators.kinds.skills.digests import compare_digests
from evalgate.measures.redaction.redact import redact
from evalgate.measures.values.compact import digest_tools, hash_stable_text
from evalgate.models.comparison.behaviour import MAIN_AGENT, SUB_AGENTS, CallMaker, OtherAgents
from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import OTHER_AGENTS
from evalgate.scoring.wording import MORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.comparison.behaviour import Behaviour, ComparedCall, FoundDifference
    from evalgate.models.trace.trace import Trace

SEVERAL = 2
"""Trials of a side from which prompts of other agents are compared: they may be made for each run."""
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


def read_other_agents(trace: Trace) -> OtherAgents | None:
    """The prompts and tools of the agents of a recording but the main one; None if they are not known."""
    prompts = sorted(map(hash_stable_text, list_other_prompts(trace)))
    definitions = [
        tool
        for each in _list_others(trace)
        if isinstance(tools := each.get("tool_definitions"), list)
        for tool in tools
        if isinstance(tool, dict)
    ]
    digests = " ".join(sorted({*digest_tools(definitions).split()}))
    return OtherAgents(tuple(prompts), digests) if prompts or digests else None


def list_other_prompts(trace: Trace) -> list[str]:
    """The recorded system prompts of other agents than the main one."""
    texts = (each.get("system_instructions") for each in _list_others(trace))
    return [text for text in texts if isinstance(text, str) and text]


def _list_others(trace: Trace) -> list[dict[str, Any]]:
    others = trace.metadata.get(OTHER_AGENTS)
    return [each for each in others if isinstance(each, dict)] if isinstance(others, list) else []


def compare_other_agents(before: Sequence[Behaviour], now: Sequence[Behaviour]) -> Iterator[FoundDifference]:
    """Yields that other agents than the main one have other system prompts, and other tools."""
    if all(_find_prompts(before, now)):
        yield "prompt", f"system prompt {SUB_AGENTS}", "", ""
    sides = [{each.others and each.others.tools for each in side} for side in (before, now)]
    if all(len(side) == 1 and all(side) for side in sides):
        found = compare_digests(*(frozenset(filter(None, side)) for side in sides))
        if found is not None and any(found):
            names = (found.changed + found.removed, found.changed + found.added)
            yield "tools", f"tools {SUB_AGENTS}", _join(names[0]), _join(names[1])
    yield from _find_unrecorded(before, now)


def _join(names: Sequence[str]) -> str:
    return " ".join([*names[:MOST_NAMES], *([f"{MORE}{len(names) - MOST_NAMES}"] if len(names) > MOST_NAMES else [])])


def _find_unrecorded(before: Sequence[Behaviour], now: Sequence[Behaviour]) -> Iterator[FoundDifference]:
    """Yields that no trial has another agent any more, each of which had one, and that all asked models less often."""
    counts = [sorted(each.model_calls for each in side) for side in (before, now)]
    has_any = [[each.others is not None for each in side] for side in (before, now)]
    is_gone = min(map(len, counts)) >= SEVERAL and all(has_any[0]) and not any(has_any[1])
    if is_gone and counts[1][0] > 0 and counts[1][-1] < counts[0][0]:
        first, second = (" to ".join(map(str, dict.fromkeys((each[0], each[-1])))) for each in counts)
        yield "model_calls", "", first, second


def pair_other_prompts(before: Sequence[Behaviour], now: Sequence[Behaviour]) -> tuple[str, str] | None:
    """The only system prompt that other agents have no longer, and the only new one; None if there are several."""
    gone, come = _find_prompts(before, now)
    return (gone.pop(), come.pop()) if len(gone) == len(come) == 1 else None


def _find_prompts(before: Sequence[Behaviour], now: Sequence[Behaviour]) -> tuple[set[str], set[str]]:
    """The prompts of other agents that all trials of one side have and none of the other: of several trials a side."""
    if min(len(before), len(now)) < SEVERAL:
        return set(), set()
    sides = [[set(each.others.prompts if each.others else ()) for each in side] for side in (before, now)]
    shared, known = [set.intersection(*side) for side in sides], [set.union(*side) for side in sides]
    return shared[0] - known[1], shared[1] - known[0]
