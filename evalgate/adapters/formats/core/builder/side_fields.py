"""Reads the fields that people record next to the messages: ids, model, cost, latency, scores, tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evalgate_metadata import SCENARIO_KEY, TRIAL_KEY
from evalgate.adapters.formats.core.fields import amount, count, identifier, listing, mapping, text
from evalgate.adapters.formats.core.format import Identity, build_identity
from evalgate.adapters.formats.core.usage.usage_fields import read_cost_usd, read_latency_seconds, read_scores

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Latency, Trace, Usage


def add_side_fields(trace: Trace, fields: dict[str, Any]) -> None:
    """Sets the recorded fields on the trace; raises FieldError. Set usage before: reading cost needs it."""
    trace.trace_id = text(fields.get("id"), "id") or trace.trace_id
    trace.model = text(fields.get("model"), "model") or trace.model
    trace.provider = text(fields.get("provider"), "provider") or trace.provider
    trace.metadata = mapping(fields.get("metadata"), "metadata") or trace.metadata
    trace.scenario_id = identifier(find_scenario_id(fields), "scenario_id")
    trace.trial = count(find_trial(fields), "trial")
    trace.tool_definitions = read_tool_definitions(fields.get("tools"))
    trace.evaluations = read_scores(fields.get("scores"), "scores")
    trace.latency = read_latency_fields(fields)
    cost, warnings = read_cost_fields(fields, trace.usage)
    trace.cost = cost
    trace.warnings += warnings


def identify_by_side_fields(record: Any) -> Identity:
    """Scenario id and trial recorded next to the messages."""
    if not isinstance(record, dict):
        return None, None
    return build_identity(find_scenario_id(record), find_trial(record))


def find_scenario_id(fields: dict[str, Any]) -> Any:
    """The recorded scenario id, from the metadata or the field."""
    return _find_id(fields, SCENARIO_KEY, "scenario_id")


def find_trial(fields: dict[str, Any]) -> Any:
    """The recorded trial, from the metadata or the field."""
    return _find_id(fields, TRIAL_KEY, "trial")


def read_cost_fields(fields: dict[str, Any], usage: Usage) -> Any:
    """The recorded cost, and warnings about it."""
    key = "cost_usd" if fields.get("cost_usd") is not None else "cost"
    value = fields.get(key)
    if isinstance(value, dict):
        key, value = "cost.usd", value.get("usd")
    return read_cost_usd(value, usage, key)


def read_latency_fields(fields: dict[str, Any]) -> Latency:
    """Reads only keys that name their unit: the unit of a bare `latency` is unknown."""
    if fields.get("latency_ms") is not None:
        return {"total_ms": amount(fields["latency_ms"], "latency_ms"), "source": "recorded"}
    return read_latency_seconds(fields.get("latency_seconds"), "latency_seconds")


def read_tool_definitions(value: Any) -> list[dict[str, Any]]:
    """Tool definitions, without the `function` wrapper that some recorders add."""
    found = []
    for number, tool in enumerate(listing(value, "tools")):
        outer = mapping(tool, f"tools[{number}]")
        inner = mapping(outer.get("function", outer), f"tools[{number}].function")
        definition: dict[str, Any] = {key: inner[key] for key in ("name", "description", "parameters") if key in inner}
        if "parameters" not in definition and inner.get("input_schema") is not None:
            definition["parameters"] = inner["input_schema"]
        found.append(definition)
    return found


def _find_id(fields: dict[str, Any], metadata_key: str, field_key: str) -> Any:
    metadata = fields.get("metadata")
    value = metadata.get(metadata_key) if isinstance(metadata, dict) else None
    return fields.get(field_key) if value is None else value
