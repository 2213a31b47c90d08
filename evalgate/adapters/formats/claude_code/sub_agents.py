"""Sub-agents of Claude Code: which call started each, and the name that it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.formats.core.builder.sub_agents import SubAgent, merge_sub_agents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from evalgate.adapters.formats.claude_code.sessions import AgentStart
    from evalgate.adapters.formats.core.builder.run import MeteredConversation
    from evalgate.models.trace.trace import ToolCall

STARTERS = ("Task", "Agent")
"""Tools that start a sub-agent."""


class SideChain(Struct, eq=False):
    """One run of a sub-agent: `parent` is the id of the call that started it, `after` a step before it."""

    metered: MeteredConversation
    parent: str
    prompt: str | None
    after: int


def join_side_chains(
    main: MeteredConversation, chains: Sequence[SideChain], starts: Mapping[str, AgentStart], idle: AbstractSet[str]
) -> int:
    """Adds the calls of sub-agents to those of the main agent; returns how many sub-agents nothing is recorded of.

    `starts` is what else is known of them, `idle` are the ids of calls whose sub-agent called no tool.
    """
    runs = [main, *(chain.metered for chain in chains)]
    calls = [call for run in runs for call in run.conversation.calls]
    by_id = {call["id"]: call for call in reversed(calls) if call["id"] is not None}
    by_prompt = {
        prompt: call
        for call in reversed(main.conversation.calls)
        if call["name"] in STARTERS and isinstance(prompt := _argument(call, "prompt"), str)
    }
    found = []
    for chain in chains:
        start = starts.get(chain.parent)
        known = by_id.get(chain.parent) or (by_id.get(start.call_id) if start is not None and start.call_id else None)
        call = known or by_prompt.get(chain.prompt or "")
        name = start.name if start is not None and start.name else call and _argument(call, "subagent_type")
        found.append(SubAgent(chain.metered, call, name if isinstance(name, str) and name else "subagent", chain.after))
    if found:
        merge_sub_agents(main, found)
    known_ids = {each.call_id for each in starts.values()} | {each.call["id"] for each in found if each.call}
    unseen = [call for call in calls if _may_have_started(call) and call["id"] not in known_ids | idle]
    return max(0, len(unseen) - sum(each.call is None for each in found))


def _may_have_started(call: ToolCall) -> bool:
    """Whether a call may have started a sub-agent: one that was refused or failed did not."""
    return call["name"] in STARTERS and call["status"] != "error"


def _argument(call: ToolCall, name: str) -> Any:
    given = call["arguments"]
    return given.get(name) if isinstance(given, dict) else None
