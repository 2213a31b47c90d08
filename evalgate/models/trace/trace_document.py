"""The document `evalgate.trace/1`: how a trace is encoded so that an equal one can be read, and its JSON Schema.

Readers ignore unknown properties (with a warning), so the schema allows additional properties everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.trace.actors import ROOT
from evalgate.models.trace.trace import KINDS, MAX_ID_LENGTH, OPERATIONS, SCHEMA, unknown_cost, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.trace.trace import Message, Trace

SCALARS = (
    "trace_id",
    "scenario_id",
    "trial",
    "conversation_id",
    "name",
    "agent",
    "provider",
    "model",
    "status",
    "stopped_by",
    "finish_reason",
    "started_at",
    "ended_at",
    "system_instructions",
    "commit",
    "agent_hash",
)
LISTS = ("llm_calls", "evaluations", "tags", "warnings")
AS_RECORDED = ("tool_definitions", "metadata")
"""Fields with free content from the recorder, in which null is a value."""


def encode_trace(trace: Trace) -> dict[str, Any]:
    """The whole trace, ready for JSON. Unknown values and empty lists are left out."""
    document: dict[str, Any] = {"schema": SCHEMA}
    document.update({name: value for name in SCALARS if (value := getattr(trace, name)) is not None})
    if trace.error is not None:
        document["error"] = drop_unknown(trace.error)
    document["messages"] = [_encode_message(message) for message in trace.messages]
    is_only = len({call["agent"] for call in trace.tool_calls}) <= 1
    document["tool_calls"] = [_encode_actor(call, is_only=is_only) for call in trace.tool_calls]
    document["response"] = drop_unknown(trace.response)
    document.update({name: value for name in LISTS if (value := _drop_unknown_in_each(getattr(trace, name)))})
    document.update({name: value for name in AS_RECORDED if (value := getattr(trace, name))})
    if trace.usage != unknown_usage():
        document["usage"] = drop_unknown(trace.usage)
    if trace.cost != unknown_cost():
        document["cost"] = drop_unknown(trace.cost)
    document["latency"] = drop_unknown(trace.latency)
    if trace.state is not None:
        document["state"] = trace.state
    if trace.gaps:
        document["missing_evidence"] = dict(trace.gaps)
    source = trace.source
    document["source"] = drop_unknown({name: getattr(source, name) for name in source.__struct_fields__})
    return document


def _encode_actor(record: Mapping[str, Any], *, is_only: bool = True) -> dict[str, Any]:
    """A message or call without unknown values; an actor of null is unknown.

    None is the main agent, but not beside calls of several names: in traces of before, these have no actor.
    """
    document = drop_unknown(record)
    if record["actor"] == ROOT and is_only:
        del document["actor"]
    elif record["actor"] is None:
        document["actor"] = None
    return document


def _encode_message(message: Message) -> dict[str, Any]:
    document = _encode_actor(message)
    if message["tool_calls"]:
        document["tool_calls"] = [drop_unknown(call) for call in message["tool_calls"]]
    else:
        del document["tool_calls"]
    return document


def _drop_unknown_in_each(items: list[Any]) -> list[Any]:
    """Removes unknown values from records; leaves other items unchanged."""
    return [drop_unknown(item) if isinstance(item, dict) else item for item in items]


def drop_unknown(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without the fields that are None."""
    return {key: value for key, value in record.items() if value is not None}


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
_AGENT = {**_TEXT, "description": "The name of the agent that acted."}
_ACTOR = {**_TEXT, "description": "Who acted: `root`, or a path such as `root/cleaner#2`; null if unknown."}
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
        "agent": _AGENT,
        "actor": _ACTOR,
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
_FILE = {
    "type": "object",
    "description": "A file after the run; without `change` it is as it was.",
    "properties": {
        "change": {"enum": ["added", "removed", "changed"]},
        "kind": {"enum": ["file", "link", "other"]},
        "bytes": {"type": "integer", "minimum": 0},
        "sha256": {"type": "string"},
        "was": {"type": "string", "description": "The digest before the run."},
        "text": {"type": "string"},
        "diff": {"type": "string"},
    },
}
_STATE = {
    "type": ["object", "null"],
    "description": "What the run left behind.",
    "properties": {
        "before": {"description": "Any JSON, such as rows of a database."},
        "after": {"description": "The same after the run."},
        "diff": {
            "type": "array",
            "description": "The difference of the two, as RFC 6902 writes it.",
            "items": {
                "type": "object",
                "required": ["op", "path"],
                "properties": {"op": {"enum": [*OPERATIONS]}, "path": {"type": "string"}},
            },
        },
        "files": {"type": "object", "additionalProperties": _FILE},
        "outage": {"type": "string", "description": "Why the state is not known: the trial is not_measured."},
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
            "status": {"enum": ["ok", "error", "incomplete"], "description": "How the run ended; absent: ok."},
            "stopped_by": {**_TEXT, "description": "What ended an incomplete run: a limit, or a wait for a person."},
            "error": {"description": "Why the run failed.", "type": ["object", "string", "null"]},
            "finish_reason": _TEXT,
            "started_at": _TIME,
            "scores": {"type": ["object", "null"], "additionalProperties": _NUMBER},
            "tags": {"type": ["object", "array", "null"]},
            "commit": _TEXT,
            "agent_hash": _TEXT,
            "metadata": {"type": ["object", "null"]},
            "state": _STATE,
            "missing_evidence": {
                "type": ["object", "null"],
                "description": "Kinds of evidence that are incomplete, each with the reason.",
                "propertyNames": {"enum": list(KINDS)},
                "additionalProperties": {"type": "string", "minLength": 1},
            },
        },
    }
