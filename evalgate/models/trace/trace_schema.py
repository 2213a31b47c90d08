"""The JSON Schema of a native trace, for editors and for people who write a recorder.

Readers ignore unknown properties (with a warning), so additional properties are allowed everywhere.
"""

from __future__ import annotations

from typing import Any

from evalgate.models.trace.evidence import KINDS
from evalgate.models.trace.trace import MAX_ID_LENGTH, SCHEMA

_TEXT = {"type": ["string", "null"]}
_NUMBER = {"type": ["number", "null"]}
_AMOUNT = {"type": ["number", "null"], "minimum": 0}
_COUNT = {"type": ["integer", "null"], "minimum": 0}
_TIME = {"type": ["string", "null"], "description": "RFC 3339, for example 2026-01-01T00:00:00Z"}

_CALL = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "id": _TEXT,
        "name": {"type": "string"},
        "arguments": {"description": "An object, or JSON text as some recorders write it."},
    },
}
_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"enum": ["system", "user", "assistant", "tool"]},
        "content": _TEXT,
        "tool_calls": {"type": ["array", "null"], "items": _CALL},
        "tool_call_id": _TEXT,
        "is_error": {"type": ["boolean", "null"]},
        "exit_code": {"type": ["integer", "null"]},
        "duration_seconds": _AMOUNT,
        "timestamp": _TIME,
    },
}
_USAGE = {
    "type": ["object", "null"],
    "properties": {
        "input_tokens": {**_COUNT, "description": "Including cached tokens."},
        "output_tokens": {**_COUNT, "description": "Including reasoning tokens."},
        "total_tokens": _COUNT,
        "cache_read_input_tokens": _COUNT,
        "cache_write_input_tokens": _COUNT,
        "reasoning_output_tokens": _COUNT,
    },
}
_MODEL_CALL = {
    "type": "object",
    "properties": {
        "provider": _TEXT,
        "model": _TEXT,
        "usage": _USAGE,
        "cost_usd": _AMOUNT,
        "duration_ms": _AMOUNT,
        "error": {
            "description": "Why the call failed. If it is the last one, and an outage, the trace is not_measured.",
            "type": ["object", "string", "null"],
            "properties": {"type": _TEXT, "message": _TEXT, "status_code": _COUNT},
        },
    },
}


def trace_schema() -> dict[str, Any]:
    """The schema of one trace: only `schema` and `messages` are required, absent fields are unknown."""
    return {
        "type": "object",
        "required": ["schema", "messages"],
        "properties": {
            "schema": {"const": SCHEMA},
            "trace_id": _TEXT,
            "scenario_id": {"type": ["string", "integer", "null"], "maxLength": MAX_ID_LENGTH},
            "trial": _COUNT,
            "model": _TEXT,
            "provider": _TEXT,
            "messages": {"type": "array", "items": _MESSAGE},
            "llm_calls": {"type": ["array", "null"], "items": _MODEL_CALL},
            "usage": _USAGE,
            "cost_usd": {**_AMOUNT, "description": "What the agent's own model calls cost; absent if unknown."},
            "latency_seconds": _AMOUNT,
            "finish_reason": _TEXT,
            "started_at": _TIME,
            "scores": {"type": ["object", "null"], "additionalProperties": _NUMBER},
            "tags": {"type": ["object", "array", "null"]},
            "commit": _TEXT,
            "agent_hash": _TEXT,
            "metadata": {"type": ["object", "null"]},
            "missing_evidence": {
                "type": ["object", "null"],
                "description": "Kinds of evidence that are incomplete, each with the reason.",
                "propertyNames": {"enum": list(KINDS)},
                "additionalProperties": {"type": "string", "minLength": 1},
            },
        },
    }
