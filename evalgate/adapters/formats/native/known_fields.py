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
    "agent": parts.free_mapping,
    "provider": text,
    "model": text,
    "status": parts.status,
    "error": parts.error,
    "finish_reason": parts.reason_to_finish,
    "started_at": time,
    "ended_at": time,
    "system_instructions": text,
    "tool_definitions": parts.free_mappings,
    "llm_calls": parts.llm_calls,
    "usage": parts.usage,
    "cost": parts.cost,
    "latency": parts.latency,
    "response": parts.response,
    "evaluations": parts.evaluations,
    "tags": parts.tags,
    "metadata": parts.free_mapping,
    "commit": text,
    "agent_hash": text,
    "source": parts.source,
    "warnings": parts.warnings,
}
"""Fields that become the trace's attribute of the same name."""

READ_ELSEWHERE = frozenset(
    {"schema", "messages", "tool_calls", "cost_usd", "latency_seconds", "duration_ms", "scores"}
)
NOT_KEPT = frozenset({"run_id", "models", "resource", "spans"})
KNOWN = frozenset(FIELDS) | READ_ELSEWHERE | NOT_KEPT
