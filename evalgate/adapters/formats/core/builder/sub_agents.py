"""Joins the runs of sub-agents into that of the main agent: their calls, in the order of time, with who made them."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalgate.models.trace.actors import ROOT, ActorPaths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.core.builder.run import MeteredConversation
    from evalgate.models.trace.trace import ToolCall

Place = tuple[int, ...]
"""Where a step stands by the order of the record: a step of the main agent, or below the step that started it."""
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
MAX_DEPTH = 16
"""Levels of sub-agents that start sub-agents; deeper ones stand below the last of them."""


class _Step(NamedTuple):
    """One answer of a model: its number in its own run, its place, and its time if that is recorded."""

    run: MeteredConversation
    number: int
    place: Place
    time: datetime | None


class SubAgent(Struct, eq=False):
    """One run of a sub-agent: `call` started it, or it began after step `after` of the main agent if that is unknown.

    `name` is as recorded. `actor` is its path, unless the reader gives it one.
    """

    metered: MeteredConversation
    call: ToolCall | None
    name: str | None = None
    after: int = 0
    actor: str = ""

    def find_turn(self, main: MeteredConversation) -> int:
        """The turn of what it did: that of the call that started it, else of the answer that it began after."""
        if self.call is not None:
            return self.call["turn"]
        answers = [message["turn"] for message in main.conversation.messages if message["role"] == "assistant"]
        return answers[min(self.after, len(answers)) - 1] if answers and self.after else 0


def merge_sub_agents(main: MeteredConversation, agents: Sequence[SubAgent]) -> dict[tuple[int, int], int]:
    """Adds the calls of sub-agents to those of the main agent, and their model calls; messages stay out.

    Returns the steps that each run's own have become, by the identity of the run.
    """
    starters = {id(call): agent for agent in agents for call in agent.metered.conversation.calls}
    paths = ActorPaths()
    named: dict[int, str] = {}
    for agent in sorted(agents, key=_order):  # names have numbers in the order of the calls, not of the record
        _name_actor(agent, starters, paths, named)
    places = {id(agent): _place(agent, agents, starters) for agent in agents}
    steps = [
        *_list_steps(main, ()),
        *(step for agent in agents for step in _list_steps(agent.metered, places[id(agent)])),
    ]
    is_timed = not any(step.time is None for step in {id(step.run): step for step in steps}.values())
    steps.sort(key=lambda step: (step.time or LONG_AGO if is_timed else LONG_AGO, step.place))
    numbers = {(id(step.run), step.number): number for number, step in enumerate(steps, 1)}
    _number_steps(main, agents, numbers)
    return numbers


def _order(agent: SubAgent) -> tuple[bool, int]:
    return agent.call is None, 0 if agent.call is None else agent.call["index"]


def _name_actor(agent: SubAgent, starters: dict[int, SubAgent], paths: ActorPaths, named: dict[int, str]) -> str:
    """The path of an agent, below that of the agent whose call started it."""
    if id(agent) not in named:
        named[id(agent)] = ROOT  # of agents that start each other
        outer = starters.get(id(agent.call))
        above = ROOT if outer is None else _name_actor(outer, starters, paths, named)
        above = ROOT if above.count("/") >= MAX_DEPTH else above
        agent.actor = named[id(agent)] = agent.actor or paths.add(above, agent.name)
        for call in agent.metered.conversation.calls:
            call["actor"], call["agent"] = agent.actor, agent.name
    return named[id(agent)]


def _place(agent: SubAgent, agents: Sequence[SubAgent], starters: dict[int, SubAgent], level: int = 0) -> Place:
    """The place of an agent by the call that started it; agents of one step follow each other in their order."""
    number = next(at for at, each in enumerate(agents) if each is agent)
    outer = starters.get(id(agent.call))
    if agent.call is None or level >= MAX_DEPTH:
        return agent.after, number
    if outer is None or outer is agent:
        return agent.call["step"], number
    return (*_place(outer, agents, starters, level + 1), agent.call["step"], number)


def _list_steps(run: MeteredConversation, place: Place) -> list[_Step]:
    """The steps of a run, each with its time: that of its answer, and none before the step that it follows."""
    found: list[_Step] = []
    latest: datetime | None = None
    for message in run.conversation.messages:
        if message["role"] == "assistant":
            time = latest if message["timestamp"] is None else datetime.fromisoformat(message["timestamp"])
            latest = time if latest is None or time is None else max(latest, time)
            number = len(found) + 1
            found.append(_Step(run, number, (*place, number), latest))
    return found


def _number_steps(main: MeteredConversation, agents: Sequence[SubAgent], numbers: dict[tuple[int, int], int]) -> None:
    """Sets step, turn and index of all calls."""
    runs = [main, *(agent.metered for agent in agents)]
    for agent in sorted(agents, key=lambda agent: agent.actor.count("/")):
        turn = agent.find_turn(main)
        for entry in _entries(agent.metered):
            entry["turn"] = turn
    for run in runs:
        for entry in _entries(run):
            entry["step"] = numbers.get((id(run), entry["step"]), entry["step"])
    main.conversation.calls = _renumber(chain.from_iterable(run.conversation.calls for run in runs))
    main.llm_calls = _renumber(chain.from_iterable(run.llm_calls for run in runs))
    for agent in agents:
        for call in agent.metered.conversation.calls:
            call["started_by"] = None if agent.call is None else agent.call["index"]


def _entries(run: MeteredConversation) -> list[Any]:
    return [*run.conversation.calls, *run.llm_calls]


def _renumber(entries: Iterable[Any]) -> list[Any]:
    ordered = sorted(entries, key=lambda entry: entry["step"])
    for index, entry in enumerate(ordered):
        entry["index"] = index
    return ordered
