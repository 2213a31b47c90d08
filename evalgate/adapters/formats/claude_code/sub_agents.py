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
WORKFLOW = "Workflow"
"""The tool that runs a script which starts sub-agents; its result names the run of the workflow."""


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
    found, nameless = [], 0
    for chain in chains:
        start = starts.get(chain.parent)
        known = by_id.get(chain.parent) or (by_id.get(start.call_id) if start is not None and start.call_id else None)
        workflow = start.workflow if start is not None else None
        call = known or _find_workflow(calls, workflow) or by_prompt.get(chain.prompt or "")
        name = start.name if start is not None and start.name else call and _argument(call, "subagent_type")
        found.append(SubAgent(chain.metered, call, name if isinstance(name, str) and name else "subagent", chain.after))
        nameless += call is None and workflow is None
    if found:
        merge_sub_agents(main, found)
    seen = {each.call_id for each in starts.values()} | {each.call["id"] for each in found if each.call} | idle
    unseen = [call for call in calls if _may_have_started(call) and call["id"] not in seen]
    scripts = [call for call in unseen if call["name"] == WORKFLOW]
    return max(0, len(unseen) - len(scripts) - nameless) + _count_unseen_runs(scripts, calls, starts)


def _count_unseen_runs(scripts: Sequence[ToolCall], calls: Sequence[ToolCall], starts: Mapping[str, AgentStart]) -> int:
    """How many workflows have no agent here: of their calls, those that name no run beyond the runs that none names."""
    runs = {each.workflow for each in starts.values() if each.workflow is not None}
    unnamed = sum(_find_workflow(calls, run) is None for run in runs)
    return max(0, sum(not any(_names(call, run) for run in runs) for call in scripts) - unnamed)


def _find_workflow(calls: Sequence[ToolCall], run: str | None) -> ToolCall | None:
    """The first call of a workflow whose result names the run."""
    return (
        None if run is None else next((call for call in calls if call["name"] == WORKFLOW and _names(call, run)), None)
    )


def _names(call: ToolCall, run: str) -> bool:
    return run in (call["result_text"] or "")


def _may_have_started(call: ToolCall) -> bool:
    """Whether a call may have started a sub-agent: one that was refused or failed did not."""
    return call["name"] in (*STARTERS, WORKFLOW) and call["status"] != "error"


def _argument(call: ToolCall, name: str) -> Any:
    given = call["arguments"]
    return given.get(name) if isinstance(given, dict) else None
