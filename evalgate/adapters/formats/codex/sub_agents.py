"""Sub-agents of Codex: which call started each, the name that it was given, and how many have no rollout here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import (
    conversation_from_messages,
    note_execution,
    read_arguments,
)
from evalgate.adapters.formats.core.builder.run import MeteredConversation
from evalgate.adapters.formats.core.builder.sub_agents import SubAgent, merge_sub_agents
from evalgate.adapters.formats.core.usage import sum_usages
from evalgate.measures.text.similar_names import unwrap_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.formats.codex.rollout import CodexRun, Rollout
    from evalgate.models.trace.trace import ToolCall, Usage

STARTERS = frozenset({"spawn_agent", "spawn_agents_on_csv"})
"""Tools that start sub-agents, each in a thread of its own with a file of its own."""


def build_run(run: CodexRun) -> MeteredConversation:
    """The conversation of one thread."""
    metered = MeteredConversation()
    metered.conversation = conversation_from_messages(run.messages)
    metered.llm_calls = run.llm_calls
    for call in metered.conversation.calls if run.ran else ():
        if call["id"] in run.ran:
            note_execution(call, None, read_arguments(run.ran[call["id"]]))
    return metered


def join_threads(main: MeteredConversation, own: CodexRun, threads: Mapping[str, Rollout]) -> None:
    """Adds the calls of sub-agents, by thread, to those of the main agent."""
    built = {thread: build_run(run) for thread, run in threads.items()}
    runs = [main, *built.values()]
    calls = {call["id"]: call for run in reversed(runs) for call in run.conversation.calls if call["id"] is not None}
    starts = {thread: calls.get(call) for thread, call in _list_starts(own, threads).items()}
    agents = [SubAgent(built[thread], starts.get(thread), run.agent_name) for thread, run in threads.items()]
    merge_sub_agents(main, agents)


def sum_threads(own: Usage, threads: Mapping[str, Rollout]) -> Usage:
    """The tokens of all threads together."""
    if not threads:
        return own
    total = sum_usages([own, *(run.usage for run in threads.values())])
    total["source"] = "recorded_total"
    return total


def count_elsewhere(own: CodexRun, threads: Mapping[str, Rollout], calls: Sequence[ToolCall]) -> int:
    """How many sub-agents were started whose rollouts are not here."""
    runs = [own, *threads.values()]
    starts = _list_starts(own, threads)
    named = {thread for run in runs for thread in run.spawned}.union(starts) - {own.id}
    unnamed = sum(_has_started(call) and call["id"] not in starts.values() for call in calls)
    unclaimed = sum(thread not in named for thread in threads)
    others = len(named.difference(threads)) + max(0, unnamed - unclaimed)
    return max(others, int(not threads and any(run.has_others for run in runs)))


def _list_starts(own: CodexRun, threads: Mapping[str, Rollout]) -> dict[str, str]:
    """The ids of the calls that started threads."""
    return {thread: call for run in (own, *threads.values()) for thread, call in run.starts.items()}


def _has_started(call: ToolCall) -> bool:
    """Whether a call started sub-agents: what it returned is an object unless it was refused."""
    if unwrap_name(call["name"]).rpartition(".")[2] not in STARTERS or call["status"] == "error":
        return False
    returned: Any = call["result_text"]
    return not isinstance(returned, str) or returned.lstrip().startswith("{")
