"""Merges the calls of a Claude Code session's sub-agents into the main agent; their messages are dropped.

A sub-agent's calls follow the calls of the step that started it and carry the sub-agent's name. Its steps are
numbered between that step and the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.build.llm_calls import MeteredConversation
    from evalgate.models.trace.trace import LlmCall, ToolCall

BEGINNERS = ("Task", "Agent")
DEEPEST = 16  # levels of sub-agents that start sub-agents


@dataclass(slots=True)
class SubAgent:
    """One run of a sub-agent: `parent` is the id of the call that started it, `after` a step before it."""

    story: MeteredConversation
    parent: str
    prompt: str | None
    after: int
    anchor: int = 0
    turn: int = 0


def take_in(main: MeteredConversation, agents: Sequence[SubAgent]) -> None:
    """Adds the calls of sub-agents to those of the main agent."""
    _anchor(main, agents)
    ordered = sorted(agents, key=lambda agent: agent.anchor)
    shift = 0
    shifts: list[tuple[int, int]] = []
    for agent in ordered:
        _move(agent, agent.anchor + shift)
        shift += agent.story.conversation.step
        shifts.append((agent.anchor, shift))
    _shift(main, shifts)
    stories = [main, *(agent.story for agent in ordered)]
    calls = [call for story in stories for call in story.conversation.calls]
    main.conversation.calls = _numbered(calls)
    main.llm_calls = _numbered([call for story in stories for call in story.llm_calls])


def _anchor(main: MeteredConversation, agents: Sequence[SubAgent]) -> None:
    """Finds the step that started each sub-agent; a nested one gets the step of its outer sub-agent."""
    begun = {call["id"]: call for call in main.conversation.calls if call["id"] is not None}
    by_prompt = {
        call["arguments"].get("prompt"): call
        for call in reversed(main.conversation.calls)
        if call["name"] in BEGINNERS
        and isinstance(call["arguments"], dict)
        and isinstance(call["arguments"].get("prompt"), str)
    }
    inner = {call["id"]: agent for agent in agents for call in agent.story.conversation.calls}
    for agent in agents:
        outer = agent
        for _ in range(DEEPEST):
            if outer.parent in begun or outer.parent not in inner:
                break
            outer = inner[outer.parent]
        call = begun.get(outer.parent) or by_prompt.get(outer.prompt)
        agent.anchor = outer.after if call is None else call["step"]
        agent.turn = 0 if call is None else call["turn"]
        _name(agent, call)


def _name(agent: SubAgent, call: ToolCall | None) -> None:
    given: Any = {} if call is None else call["arguments"]
    kind = given.get("subagent_type") if isinstance(given, dict) else None
    for inner in agent.story.conversation.calls:
        inner["agent"] = kind if isinstance(kind, str) and kind else "subagent"


def _move(agent: SubAgent, base: int) -> None:
    for made in (*agent.story.conversation.calls, *agent.story.llm_calls):
        made["step"] += base
        made["turn"] = agent.turn


def _shift(main: MeteredConversation, shifts: list[tuple[int, int]]) -> None:
    """Moves later steps of the main agent behind the steps of sub-agents that ran before them."""
    made: list[ToolCall | LlmCall] = sorted(
        [*main.conversation.calls, *main.llm_calls], key=lambda one: one["step"]
    )
    passed, by = 0, 0
    for one in made:
        while passed < len(shifts) and shifts[passed][0] < one["step"]:
            by = shifts[passed][1]
            passed += 1
        one["step"] += by


def _numbered(made: list[Any]) -> list[Any]:
    ordered = sorted(made, key=lambda one: one["step"])
    for index, one in enumerate(ordered):
        one["index"] = index
    return ordered
