"""Who made each call of a run recorded as spans: an agent's span below that of the main agent is a sub-agent.

So is a tool that asks a model itself, where a tracer knows no agents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.trace.actors import ROOT, ActorPaths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.models.trace.trace import ToolCall

MadeCall = tuple["ToolCall", "SpanNode | None", "SpanNode | None"]
"""A call, a span of the agent that made it, and the span that executed it."""


def add_actors(made: Sequence[MadeCall], calls: Sequence[ModelCall]) -> None:
    """Sets the actor of each call, and the call that started that actor."""
    outermost = _find_outermost(made, calls)
    acting = {id(node.owner) for _, node, _ in made if node is not None} | {id(call.owner) for call in calls}
    around = min((len(_list_asking_tools(call.best)) for call in calls), default=0)
    executed = {id(span): call for call, _, span in made if span is not None}
    paths = ActorPaths()
    actors: dict[int, str] = {}
    for call, node, _ in sorted(made, key=lambda each: each[0]["index"]):
        actor, owner = ROOT, None
        for agent in _list_agents(node, outermost, around):
            if agent.facts.agent is None and agent.facts.kind == "agent" and id(agent) not in acting:
                continue  # it only surrounds the span of an agent with a name
            owner = agent
            if id(agent) not in actors:
                actors[id(agent)] = paths.add(actor, agent.facts.agent)
            actor = actors[id(agent)]
        call["actor"] = actor
        starter = None if owner is None else _find_starter(owner, executed)
        call["started_by"] = None if starter is None or starter is call else starter["index"]


def _find_outermost(made: Sequence[MadeCall], calls: Sequence[ModelCall]) -> int:
    """How many agents are above what the main agent does; without a model call, above the outermost tool."""
    depths = [call.depth for call in calls if call.owner is not None] or [call.depth for call in calls]
    depths = depths or [node.depth for _, node, _ in made if node is not None]
    return min(depths, default=0)


def _list_agents(node: SpanNode | None, outermost: int, around: int) -> list[SpanNode]:
    """The sub-agents that a span ran under, from the outermost one; `around` tools are above the main agent."""
    if node is None:
        return []
    agents = [each for each in _list_above(node) if each.facts.kind == "agent" and each.depth >= outermost]
    tools = _list_asking_tools(node)
    return sorted([*agents, *tools[: len(tools) - around]], key=lambda each: each.rank)


def _list_asking_tools(node: SpanNode) -> list[SpanNode]:
    """The tools above a model call, from the innermost one, that ask a model without an agent's span in between."""
    if node.facts.kind != "inference":
        return []
    found = []
    is_agents = False
    for each in _list_above(node):
        if each.facts.kind == "tool" and not is_agents:
            found.append(each)
        is_agents = each.facts.kind == "agent"
    return found


def _list_above(node: SpanNode) -> list[SpanNode]:
    """The model calls, tools and agents above a span, from the nearest one."""
    found = []
    above = node.within
    while above is not None:
        found.append(above)
        above = above.within
    return found


def _find_starter(agent: SpanNode, executed: dict[int, ToolCall]) -> ToolCall | None:
    """The call whose execution an agent's span lies in, or is."""
    above: SpanNode | None = agent
    while above is not None:
        if id(above) in executed:
            return executed[id(above)]
        above = above.parent
    return None
