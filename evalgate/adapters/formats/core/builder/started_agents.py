"""Names the agents that calls started, in formats that hold the messages of one agent only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import OPAQUE

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

NAMED = "subagent_type"
"""The argument with which Claude's agent SDK, LangChain's deepagents and others name the agent that a call starts."""
TOOLS = {"use_agent": "system_prompt", "swarm": "agents"}
"""Tools of Strands that start agents, each with an argument that says so."""


def note_started_agents(trace: Trace) -> None:
    """Warns of each agent that a call started and of which the messages hold nothing."""
    if any(call["actor"] != ROOT for call in trace.tool_calls):
        return
    found = filter(None, (find_started_agent(call["name"], call["arguments"]) for call in trace.tool_calls))
    for name in dict.fromkeys(found):
        message = "a call started this agent; what it did is not in the messages of the main agent"
        trace.warnings = [*trace.warnings, {"code": OPAQUE, "message": message, "where": name}]


def find_started_agent(tool: str, arguments: Any) -> str | None:
    """The agent that a call starts: by its name, else by that of the tool; None for another call.

    >>> find_started_agent("task", {"subagent_type": "cleaner", "description": "x"})
    'cleaner'
    >>> find_started_agent("task", {"title": "x"})
    """
    if not isinstance(arguments, dict):
        return None
    named = arguments.get(NAMED)
    if isinstance(named, str) and named and isinstance(arguments.get("description", arguments.get("prompt")), str):
        return named
    return tool if tool in TOOLS and arguments.get(TOOLS[tool]) else None
