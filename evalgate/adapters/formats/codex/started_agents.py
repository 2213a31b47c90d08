"""What lines of a rollout say of the sub-agents that it started or spoke with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.codex.executions import plain_word
from evalgate.adapters.formats.core.fields import dict_or_empty, plain_keys
from evalgate.adapters.formats.core.strict_json import decode
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import ToolResult

SPAWN = "spawn_agent"
"""The tool that starts a sub-agent."""


class Agents(NamedTuple):
    """Threads of sub-agents that a line names, and the id of the call that started them, if it did."""

    threads: list[str]
    starter: str | None = None


def read_agents(payload: dict[str, Any]) -> Agents | None:
    """The sub-agents that an event is about; None for any other event."""
    kind = payload.get("type")
    item = plain_keys(dict_or_empty(payload.get("item"))) if kind == "item_completed" else {}
    if kind == "collab_agent_spawn_end":
        return Agents(keep_ids([payload.get("new_thread_id")]), as_text(payload.get("call_id")))
    if kind == "sub_agent_activity" or item.get("type") == "SubAgentActivity":
        about = item or payload
        starter = about.get("id", about.get("event_id")) if about.get("kind") == "started" else None
        return Agents(keep_ids([about.get("agent_thread_id")]), as_text(starter))
    if item.get("type") == "CollabAgentToolCall":
        starter = item.get("id") if plain_word(item.get("tool")) == SPAWN else None
        return Agents(keep_ids(item.get("receiver_thread_ids")), as_text(starter))
    return None


def read_started(answer: ToolResult) -> Agents:
    """The sub-agent that the tool which starts one returned."""
    content = answer.content
    try:
        found = decode(content.encode()) if isinstance(content, str) else content
    except (TraceError, UnicodeEncodeError):
        found = None
    return Agents(keep_ids([dict_or_empty(found).get("agent_id")]), answer.id)


def as_text(value: Any) -> str | None:
    """A text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def keep_ids(values: Any) -> list[str]:
    """The texts of a list that are not empty."""
    return [each for each in values if as_text(each)] if isinstance(values, list) else []


def read_agent_name(spawn: dict[str, Any]) -> str | None:
    """The role of a sub-agent, or the name of its task; its nickname is drawn by chance."""
    path = as_text(spawn.get("agent_path")) or ""
    return as_text(spawn.get("agent_role")) or path.rpartition("/")[2] or None
