"""Encodes a trace as a full `evalgate.trace/1` document, from which an equal trace can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.models.trace.trace import SCHEMA, unknown_cost, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.trace.trace import Message, Trace

TEXTS = (
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


def to_document(trace: Trace) -> dict[str, Any]:
    """The whole trace, ready for JSON. Unknown values and empty lists are left out."""
    document: dict[str, Any] = {"schema": SCHEMA}
    document.update({name: value for name in TEXTS if (value := getattr(trace, name)) is not None})
    if trace.error is not None:
        document["error"] = _known(trace.error)
    document["messages"] = [_message(message) for message in trace.messages]
    document["tool_calls"] = [_known(call) for call in trace.tool_calls]
    document["response"] = _known(trace.response)
    document.update({name: value for name in LISTS if (value := _plain(getattr(trace, name)))})
    document.update({name: value for name in AS_RECORDED if (value := getattr(trace, name))})
    if trace.usage != unknown_usage():
        document["usage"] = _known(trace.usage)
    if trace.cost != unknown_cost():
        document["cost"] = _known(trace.cost)
    document["latency"] = _known(trace.latency)
    source = trace.source
    document["source"] = _known({name: getattr(source, name) for name in source.__slots__})
    return document


def _message(message: Message) -> dict[str, Any]:
    known = _known(message)
    if message["tool_calls"]:
        known["tool_calls"] = [_known(call) for call in message["tool_calls"]]
    else:
        del known["tool_calls"]
    return known


def _plain(value: list[Any]) -> list[Any]:
    """Removes unknown values from records; leaves other items unchanged."""
    return [_known(item) if isinstance(item, dict) else item for item in value]


def _known(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None}
