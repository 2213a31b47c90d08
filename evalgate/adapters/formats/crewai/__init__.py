"""CrewAI: outputs of crews, tasks and agents, and events of its bus. Entry points: `CREWAI`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import MAX_MESSAGES, Format

EVENT_KEYS = frozenset({"event_id", "source_fingerprint", "source_type", "agent_role", "crew_name", "event_data"})
OWN_FAMILIES = (
    *("crew_", "task_", "tool_usage_", "tool_execution_", "tool_failure_", "tool_validate_", "tool_selection_"),
    *("agent_", "lite_agent_", "llm_", "mcp_", "memory_", "knowledge_", "flow_", "method_execution_", "a2a_"),
    *("checkpoint_", "skill_", "hook_", "plan_", "step_observation_", "goal_achieved_", "conversation_"),
    *("human_feedback_", "context_window_", "SIG", "cc_env", "codex_env", "cursor_env", "default_env"),
)
"""How the types of CrewAI's events begin."""


def is_event(value: Any) -> bool:
    """True for an event of CrewAI's bus, in its own form or as its tracing wraps it."""
    kind = value.get("type") if isinstance(value, dict) else None
    return (
        isinstance(kind, str)
        and "timestamp" in value
        and kind.startswith(OWN_FAMILIES)
        and not EVENT_KEYS.isdisjoint(value)
    )


def is_crew_output(value: Any) -> bool:
    """True for the output of a crew."""
    return isinstance(value, dict) and isinstance(value.get("tasks_output"), list) and "raw" in value


def is_task_output(value: Any) -> bool:
    """True for the output of a task."""
    return isinstance(value, dict) and value.keys() >= {"raw", "agent", "description"} and "output_format" in value


def is_agent_output(value: Any) -> bool:
    """True for the output of an agent that ran without a crew."""
    return isinstance(value, dict) and value.keys() >= {"raw", "agent_role"} and isinstance(value.get("messages"), list)


def is_output(value: Any) -> bool:
    """True for an output of any kind."""
    return is_crew_output(value) or is_task_output(value) or is_agent_output(value)


def is_event_log(value: Any) -> bool:
    """True for an object with the list of a run's events."""
    events = value.get("events") if isinstance(value, dict) else None
    return isinstance(events, list) and bool(events) and is_event(events[0])


def is_crewai(value: Any) -> bool:
    """True for an output, an event, or a list of outputs or events."""
    if isinstance(value, list):
        first = value[:MAX_MESSAGES]
        return any(map(is_event, first)) or (bool(first) and all(map(is_output, first)))
    return is_output(value) or is_event(value) or is_event_log(value)


CREWAI = Format(
    name="crewai",
    needs="an output with `raw` and `tasks_output`, or events with `type` and `event_id`",
    claims=is_crewai,
    module="crewai.reader",
    joins_lines=True,
)
