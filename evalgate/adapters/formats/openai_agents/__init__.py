"""Reads the OpenAI Agents SDK: its spans, and saved run states.

Entry points: `OPENAI_AGENTS`, `OPENAI_AGENTS_STATE`, `reader`, `state`.
"""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

FRAMEWORK = "openai-agents"


def _claims_openai_agents(value: Any) -> bool:
    first = first_object(value)
    items = first.get("data")
    if isinstance(items, list):
        first = first_object(items)
    held = first_object(first.get("spans"))
    if held.get("object") == "trace.span":
        first = held
    kind = first.get("object")
    if kind == "trace.span":
        return isinstance(first.get("span_data"), dict) and "trace_id" in first
    return kind == "trace" and "workflow_name" in first


def _claims_agents_state(value: Any) -> bool:
    if not isinstance(value, dict) or "$schemaVersion" not in value:
        return False
    return is_of_javascript(value) or ("original_input" in value and "current_agent" in value)


def is_of_javascript(state: Any) -> bool:
    """True for a run state of the JavaScript SDK."""
    return isinstance(state, dict) and "originalInput" in state and "currentAgent" in state


OPENAI_AGENTS = Format(
    name="openai-agents",
    needs="`trace` and `trace.span` objects with `span_data`",
    claims=_claims_openai_agents,
    module="openai_agents.reader",
    joins_lines=True,
)
OPENAI_AGENTS_STATE = Format(
    name="openai-agents-state",
    needs="`$schemaVersion`, `original_input` and `current_agent`",
    claims=_claims_agents_state,
    module="openai_agents.state",
)
