"""Writes a trace as `evalgate.trace/1`: in the short form if that loses nothing, else in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from evalgate.adapters.formats.core.build.conversation import first_instructions
from evalgate.adapters.formats.native import reader
from evalgate.errors import TraceError
from evalgate.models.trace.trace import SCHEMA, unknown_cost, unknown_latency, unknown_usage
from evalgate.models.trace.trace_document import to_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.trace.trace import Message, ToolCall, Trace

SAME_NAME = (
    *("trace_id", "scenario_id", "trial", "conversation_id", "name", "provider", "model"),
    *("error", "finish_reason", "started_at", "ended_at", "llm_calls", "tags", "commit", "agent_hash"),
    "warnings",
)
AS_RECORDED = ("agent", "tool_definitions", "metadata")
OF_MESSAGES = ("timestamp", "agent", "model", "reasoning", "finish_reason", "parts")


def to_native(trace: Trace) -> dict[str, Any]:
    """The short form if reading it back gives the same trace, else the full one."""
    short = _short(trace)
    try:
        again = reader.build(orjson.loads(orjson.dumps(short)))
    except TraceError:
        return to_document(trace)
    again.source = trace.source
    return short if again == trace else to_document(trace)


def _short(trace: Trace) -> dict[str, Any]:
    document: dict[str, Any] = {"schema": SCHEMA}
    for name in SAME_NAME:
        value = getattr(trace, name)
        if value not in (None, [], {}):
            document[name] = _known(value)
    document.update({name: value for name in AS_RECORDED if (value := getattr(trace, name))})
    if trace.status != "ok":
        document["status"] = trace.status
    if trace.system_instructions != first_instructions(trace.messages):
        document["system_instructions"] = trace.system_instructions
    answered = _by_id(trace.tool_calls)
    document["messages"] = [_message(message, answered) for message in trace.messages]
    _add_figures(document, trace)
    return document


def _by_id(calls: list[ToolCall]) -> dict[str | None, ToolCall]:
    """Calls by id; if ids repeat, the full form is needed anyway."""
    return {call["id"]: call for call in calls if call["id"] is not None}


def _message(message: Message, calls: Mapping[str | None, ToolCall]) -> dict[str, Any]:
    short: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if message["role"] == "tool":
        call = calls.get(message["tool_call_id"])
        short = {"role": "tool", "tool_call_id": message["tool_call_id"], **_outcome(message, call)}
    elif message["name"] is not None:
        short["name"] = message["name"]
    if message["tool_calls"]:
        short["tool_calls"] = [
            _asked(calls.get(asked["id"]), _known(asked)) for asked in message["tool_calls"]
        ]
    return short | {name: message[name] for name in OF_MESSAGES if message[name] is not None}  # type: ignore[literal-required]


def _asked(call: ToolCall | None, asked: dict[str, Any]) -> dict[str, Any]:
    """A tool call of a message; arguments recorded as text stay text, even invalid ones."""
    if call is not None and call["arguments_raw"] is not None:
        asked["arguments"] = call["arguments_raw"]
    return asked


def _outcome(message: Message, call: ToolCall | None) -> dict[str, Any]:
    told: dict[str, Any] = {"content": message["content"]}
    if call is None:
        return told
    if isinstance(call["result"], dict):
        told["content"] = call["result"]
    if call["status"] == "error":
        told["is_error"] = True
    if call["exit_code"] is not None:
        told["exit_code"] = call["exit_code"]
    if call["duration_ms"] is not None:
        told["duration_seconds"] = call["duration_ms"] / 1000
    return told


def _add_figures(document: dict[str, Any], trace: Trace) -> None:
    if trace.usage != unknown_usage():
        document["usage"] = _known(trace.usage)
    if trace.cost["source"] == "recorded":
        document["cost_usd"] = trace.cost["usd"]
    elif trace.cost != unknown_cost():
        document["cost"] = _known(trace.cost)
    if trace.latency["source"] == "recorded" and trace.latency["total_ms"] is not None:
        document["latency_seconds"] = trace.latency["total_ms"] / 1000
    elif trace.latency != unknown_latency():
        document["latency"] = _known(trace.latency)
    if trace.evaluations:
        scores = {found["name"]: found["score_value"] for found in trace.evaluations}
        told = all(_known(found).keys() <= {"name", "score_value"} for found in trace.evaluations)
        is_map = told and len(scores) == len(trace.evaluations)
        document["scores" if is_map else "evaluations"] = scores if is_map else _known(trace.evaluations)


def _known(value: Any) -> Any:
    """A record, or the records of a list, without fields that are None."""
    if isinstance(value, list):
        return [_known(item) for item in value]
    if isinstance(value, dict):
        return {
            key: _known(item) if key == "usage" else item for key, item in value.items() if item is not None
        }
    return value
