"""Encodes a trace as a full `evalgate.trace/1` document, from which an equal trace can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.trace.trace import SCHEMA, unknown_cost, unknown_usage

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
        document["error"] = _drop_unknown(trace.error)
    document["messages"] = [_encode_message(message) for message in trace.messages]
    document["tool_calls"] = [_drop_unknown(call) for call in trace.tool_calls]
    document["response"] = _drop_unknown(trace.response)
    document.update({name: value for name in LISTS if (value := _drop_unknown_in_each(getattr(trace, name)))})
    document.update({name: value for name in AS_RECORDED if (value := getattr(trace, name))})
    if trace.usage != unknown_usage():
        document["usage"] = _drop_unknown(trace.usage)
    if trace.cost != unknown_cost():
        document["cost"] = _drop_unknown(trace.cost)
    document["latency"] = _drop_unknown(trace.latency)
    if trace.gaps:
        document["missing_evidence"] = dict(trace.gaps)
    source = trace.source
    document["source"] = _drop_unknown({name: getattr(source, name) for name in source.__struct_fields__})
    return document


def _encode_message(message: Message) -> dict[str, Any]:
    document = _drop_unknown(message)
    if message["tool_calls"]:
        document["tool_calls"] = [_drop_unknown(call) for call in message["tool_calls"]]
    else:
        del document["tool_calls"]
    return document


def _drop_unknown_in_each(items: list[Any]) -> list[Any]:
    """Removes unknown values from records; leaves other items unchanged."""
    return [_drop_unknown(item) if isinstance(item, dict) else item for item in items]


def _drop_unknown(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}
