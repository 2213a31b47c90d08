"""Lists the fields of a native trace: with a reader each, read elsewhere, or ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import count, identifier, text, time
from evalgate.adapters.formats.native import parts

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[Any, str], Any]

FIELDS: dict[str, Read] = {
    "trace_id": text,
    "scenario_id": identifier,
    "trial": count,
    "conversation_id": text,
    "name": text,
    "agent": parts.read_free_mapping,
    "provider": text,
    "model": text,
    "status": parts.read_status,
    "error": parts.read_error_info,
    "finish_reason": parts.read_finish_reason,
    "started_at": time,
    "ended_at": time,
    "system_instructions": text,
    "tool_definitions": parts.read_free_mappings,
    "llm_calls": parts.llm_calls,
    "usage": parts.read_usage,
    "cost": parts.read_cost,
    "latency": parts.read_latency,
    "response": parts.read_response,
    "evaluations": parts.read_evaluations,
    "tags": parts.read_tags,
    "metadata": parts.read_free_mapping,
    "commit": text,
    "agent_hash": text,
    "source": parts.read_source,
    "warnings": parts.read_warnings,
}
"""Fields that become the trace's attribute of the same name."""

READ_ELSEWHERE = frozenset(
    {"schema", "messages", "tool_calls", "cost_usd", "latency_seconds", "duration_ms", "scores", "missing_evidence"}
)
IGNORED_FIELDS = frozenset({"run_id", "models", "resource", "spans"})
GAPS = "missing_evidence"
UNREADABLE = frozenset({"output", "outputs", "completion", "steps", "choices"})
"""Fields in which recorders keep what the agent did, and which a native trace does not have."""
KNOWN = frozenset(FIELDS) | READ_ELSEWHERE | IGNORED_FIELDS
