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

SUB_AGENT_TOOLS = ("Task", "Agent")
MAX_DEPTH = 16  # levels of sub-agents that start sub-agents


@dataclass(slots=True)
class SubAgent:
    """One run of a sub-agent: `parent` is the id of the call that started it, `after` a step before it."""

    metered: MeteredConversation
    parent: str
    prompt: str | None
    after: int
    anchor: int = 0
    turn: int = 0


def merge_sub_agents(main: MeteredConversation, agents: Sequence[SubAgent]) -> None:
    """Adds the calls of sub-agents to those of the main agent."""
    _anchor_agents(main, agents)
    ordered = sorted(agents, key=lambda agent: agent.anchor)
    shift = 0
    shifts: list[tuple[int, int]] = []
    for agent in ordered:
        _move_calls(agent, agent.anchor + shift)
        shift += agent.metered.conversation.step
        shifts.append((agent.anchor, shift))
    _shift_steps(main, shifts)
    metered_conversations = [main, *(agent.metered for agent in ordered)]
    calls = [call for metered in metered_conversations for call in metered.conversation.calls]
    main.conversation.calls = _renumber(calls)
    main.llm_calls = _renumber([call for metered in metered_conversations for call in metered.llm_calls])


def _anchor_agents(main: MeteredConversation, agents: Sequence[SubAgent]) -> None:
    """Finds the step that started each sub-agent; a nested one gets the step of its outer sub-agent."""
    calls_by_id = {call["id"]: call for call in main.conversation.calls if call["id"] is not None}
    by_prompt = {
        call["arguments"].get("prompt"): call
        for call in reversed(main.conversation.calls)
        if call["name"] in SUB_AGENT_TOOLS
        and isinstance(call["arguments"], dict)
        and isinstance(call["arguments"].get("prompt"), str)
    }
    agents_by_call = {call["id"]: agent for agent in agents for call in agent.metered.conversation.calls}
    for agent in agents:
        outer = agent
        for _ in range(MAX_DEPTH):
            if outer.parent in calls_by_id or outer.parent not in agents_by_call:
                break
            outer = agents_by_call[outer.parent]
        call = calls_by_id.get(outer.parent) or by_prompt.get(outer.prompt)
        agent.anchor = outer.after if call is None else call["step"]
        agent.turn = 0 if call is None else call["turn"]
        _name_calls(agent, call)


def _name_calls(agent: SubAgent, call: ToolCall | None) -> None:
    given: Any = {} if call is None else call["arguments"]
    kind = given.get("subagent_type") if isinstance(given, dict) else None
    for inner in agent.metered.conversation.calls:
        inner["agent"] = kind if isinstance(kind, str) and kind else "subagent"


def _move_calls(agent: SubAgent, base: int) -> None:
    for entry in (*agent.metered.conversation.calls, *agent.metered.llm_calls):
        entry["step"] += base
        entry["turn"] = agent.turn


def _shift_steps(main: MeteredConversation, shifts: list[tuple[int, int]]) -> None:
    """Moves later steps of the main agent behind the steps of sub-agents that ran before them."""
    entries: list[ToolCall | LlmCall] = sorted(
        [*main.conversation.calls, *main.llm_calls], key=lambda entry: entry["step"]
    )
    position, offset = 0, 0
    for entry in entries:
        while position < len(shifts) and shifts[position][0] < entry["step"]:
            offset = shifts[position][1]
            position += 1
        entry["step"] += offset


def _renumber(entries: list[Any]) -> list[Any]:
    ordered = sorted(entries, key=lambda entry: entry["step"])
    for index, entry in enumerate(ordered):
        entry["index"] = index
    return ordered
