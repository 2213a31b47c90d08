"""Writes a trace as `evalgate.trace/1`: in the short form if that loses nothing, else in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.native import reader
from evalgate.adapters.formats.native.parts import GAPS
from evalgate.errors import TraceError
from evalgate.models.trace.trace import SCHEMA, unknown_cost, unknown_latency, unknown_usage
from evalgate.models.trace.trace_document import drop_unknown, encode_trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.trace.trace import Message, ToolCall, Trace

SAME_NAME = (
    *("trace_id", "scenario_id", "trial", "conversation_id", "name", "provider", "model"),
    *("error", "stopped_by", "finish_reason", "started_at", "ended_at", "llm_calls", "tags", "commit", "agent_hash"),
    "warnings",
)
AS_RECORDED = ("agent", "tool_definitions", "metadata")
MESSAGE_FIELDS = ("timestamp", "agent", "model", "reasoning", "finish_reason", "parts")


def to_native(trace: Trace) -> dict[str, Any]:
    """The short form if reading it back gives the same trace, else the full one."""
    return to_short_form(trace) or encode_trace(trace)


def to_short_form(trace: Trace) -> dict[str, Any] | None:
    """The short form; None if reading it back does not give the same trace."""
    short = _build_short_form(trace)
    try:
        restored = reader.build(short)
    except TraceError:
        return None
    restored.source, restored.other_spans = trace.source, trace.other_spans  # a native trace has no spans
    return short if restored == trace else None


def _build_short_form(trace: Trace) -> dict[str, Any]:
    document: dict[str, Any] = {"schema": SCHEMA}
    for name in SAME_NAME:
        value = getattr(trace, name)
        if value not in (None, [], {}):
            document[name] = _drop_none(value)
    document.update({name: value for name in AS_RECORDED if (value := getattr(trace, name))})
    if trace.status != "ok":
        document["status"] = trace.status
    if trace.system_instructions != get_instructions(trace.messages):
        document["system_instructions"] = trace.system_instructions
    calls_by_id = _index_by_id(trace.tool_calls)
    document["messages"] = [_encode_message(message, calls_by_id) for message in trace.messages]
    _add_measurements(document, trace)
    if trace.state is not None:
        document["state"] = trace.state
    if trace.gaps:
        document[GAPS] = dict(trace.gaps)
    return document


def _index_by_id(calls: list[ToolCall]) -> dict[str | None, ToolCall]:
    """Calls by id; if ids repeat, the full form is needed anyway."""
    return {call["id"]: call for call in calls if call["id"] is not None}


def _encode_message(message: Message, calls: Mapping[str | None, ToolCall]) -> dict[str, Any]:
    short: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if message["role"] == "tool":
        call = calls.get(message["tool_call_id"])
        short = {"role": "tool", "tool_call_id": message["tool_call_id"], **_encode_outcome(message, call)}
    elif message["name"] is not None:
        short["name"] = message["name"]
    if message["tool_calls"]:
        short["tool_calls"] = [
            _encode_request(calls.get(request["id"]), drop_unknown(request)) for request in message["tool_calls"]
        ]
    return short | {name: message[name] for name in MESSAGE_FIELDS if message[name] is not None}  # type: ignore[literal-required]


def _encode_request(call: ToolCall | None, request: dict[str, Any]) -> dict[str, Any]:
    """A tool call of a message; arguments recorded as text stay text, even invalid ones."""
    if call is not None and call["arguments_raw"] is not None:
        request["arguments"] = call["arguments_raw"]
    return request


def _encode_outcome(message: Message, call: ToolCall | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"content": message["content"]}
    if call is None:
        return fields
    if isinstance(call["result"], dict):
        fields["content"] = call["result"]
    if call["status"] == "error":
        fields["is_error"] = True
    elif call["status"] == "unknown":
        fields["is_error"] = None
    if call["exit_code"] is not None:
        fields["exit_code"] = call["exit_code"]
    if call["duration_ms"] is not None:
        fields["duration_seconds"] = call["duration_ms"] / 1000
    return fields


def _add_measurements(document: dict[str, Any], trace: Trace) -> None:
    if trace.usage != unknown_usage():
        document["usage"] = drop_unknown(trace.usage)
    if trace.cost["source"] == "recorded":
        document["cost_usd"] = trace.cost["usd"]
    elif trace.cost != unknown_cost():
        document["cost"] = drop_unknown(trace.cost)
    if trace.latency["source"] == "recorded" and trace.latency["total_ms"] is not None:
        document["latency_seconds"] = trace.latency["total_ms"] / 1000
    elif trace.latency != unknown_latency():
        document["latency"] = drop_unknown(trace.latency)
    if trace.evaluations:
        scores = {found["name"]: found["score_value"] for found in trace.evaluations}
        is_plain = all(drop_unknown(found).keys() <= {"name", "score_value"} for found in trace.evaluations)
        is_map = is_plain and len(scores) == len(trace.evaluations)
        document["scores" if is_map else "evaluations"] = scores if is_map else _drop_none(trace.evaluations)


def _drop_none(value: Any) -> Any:
    """A record, or the records of a list, without fields that are None."""
    if isinstance(value, list):
        return [_drop_none(item) for item in value]
    if isinstance(value, dict):
        return {key: _drop_none(item) if key == "usage" else item for key, item in value.items() if item is not None}
    return value
