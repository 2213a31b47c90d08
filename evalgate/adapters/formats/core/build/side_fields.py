"""Reads the fields that people record next to the messages: ids, model, cost, latency, scores, tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import amount, count, identifier, listing, mapping, text
from evalgate.adapters.formats.core.usage.usage_fields import recorded_cost, recorded_scores, recorded_seconds
from evalgate.adapters.formats.core.format import Identity, identity

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Latency, Trace, Usage

SCENARIO_KEY = "evalgate.scenario.id"
TRIAL_KEY = "evalgate.trial"


def add_beside(trace: Trace, beside: dict[str, Any]) -> None:
    """Sets the recorded fields on the trace; raises FieldError. Set usage before: reading cost needs it."""
    trace.trace_id = text(beside.get("id"), "id") or trace.trace_id
    trace.model = text(beside.get("model"), "model") or trace.model
    trace.provider = text(beside.get("provider"), "provider") or trace.provider
    trace.metadata = mapping(beside.get("metadata"), "metadata") or trace.metadata
    trace.scenario_id = identifier(scenario_beside(beside), "scenario_id")
    trace.trial = count(trial_beside(beside), "trial")
    trace.tool_definitions = tools(beside.get("tools"))
    trace.evaluations = recorded_scores(beside.get("scores"), "scores")
    trace.latency = latency(beside)
    cost, warnings = cost_beside(beside, trace.usage)
    trace.cost = cost
    trace.warnings += warnings


def identify_beside(record: Any) -> Identity:
    """Scenario id and trial recorded next to the messages."""
    if not isinstance(record, dict):
        return None, None
    return identity(scenario_beside(record), trial_beside(record))


def scenario_beside(beside: dict[str, Any]) -> Any:
    """The recorded scenario id, from the metadata or the field."""
    return _named(beside, SCENARIO_KEY, "scenario_id")


def trial_beside(beside: dict[str, Any]) -> Any:
    """The recorded trial, from the metadata or the field."""
    return _named(beside, TRIAL_KEY, "trial")


def cost_beside(beside: dict[str, Any], usage: Usage) -> Any:
    """The recorded cost, and warnings about it."""
    key = "cost_usd" if beside.get("cost_usd") is not None else "cost"
    value = beside.get(key)
    if isinstance(value, dict):
        key, value = "cost.usd", value.get("usd")
    return recorded_cost(value, usage, key)


def latency(beside: dict[str, Any]) -> Latency:
    """Reads only keys that name their unit: the unit of a bare `latency` is unknown."""
    if beside.get("latency_ms") is not None:
        return {"total_ms": amount(beside["latency_ms"], "latency_ms"), "source": "recorded"}
    return recorded_seconds(beside.get("latency_seconds"), "latency_seconds")


def tools(value: Any) -> list[dict[str, Any]]:
    """Tool definitions, without the `function` wrapper that some recorders add."""
    found = []
    for number, tool in enumerate(listing(value, "tools")):
        outer = mapping(tool, f"tools[{number}]")
        inner = mapping(outer.get("function", outer), f"tools[{number}].function")
        known: dict[str, Any] = {
            key: inner[key] for key in ("name", "description", "parameters") if key in inner
        }
        if "parameters" not in known and inner.get("input_schema") is not None:
            known["parameters"] = inner["input_schema"]
        found.append(known)
    return found


def _named(beside: dict[str, Any], in_metadata: str, plain: str) -> Any:
    metadata = beside.get("metadata")
    named = metadata.get(in_metadata) if isinstance(metadata, dict) else None
    return beside.get(plain) if named is None else named
