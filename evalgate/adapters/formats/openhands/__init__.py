"""OpenHands: histories, output lines, events of V1. Entry points: `OPENHANDS`, `OPENHANDS_V1` and their readers."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

EVENT_SOURCES = frozenset({"user", "agent", "environment"})


def is_openhands_event(value: Any) -> bool:
    """True for one event of an OpenHands history, of any version."""
    if not isinstance(value, dict) or "role" in value:
        return False
    return isinstance(value.get("action"), str) or isinstance(value.get("observation"), str)


def _claims_openhands(value: Any) -> bool:
    if isinstance(value, dict):
        history = value.get("history")
        if not isinstance(history, list) or "metrics" not in value:
            return False
        first = history[0] if history else None
        if isinstance(first, list):
            first = first[0] if first else None
        return "instruction" in value if first is None else is_openhands_event(first)
    if not isinstance(value, list) or not value or not is_openhands_event(value[0]):
        return False
    source = value[0].get("source")
    return isinstance(source, str) and source in EVENT_SOURCES


OPENHANDS = Format(
    name="openhands",
    needs="a list of events, or `history` and `metrics`",
    claims=_claims_openhands,
    module="openhands.reader",
)

V1_ENDINGS = ("Event", "Observation", "Condensation", "CondensationRequest")


def _claims_v1(value: Any) -> bool:
    first = first_object(value)
    kind, source = first.get("kind"), first.get("source")
    if not isinstance(kind, str) or not isinstance(source, str) or "timestamp" not in first:
        return False
    return kind.endswith(V1_ENDINGS) and source in EVENT_SOURCES


OPENHANDS_V1 = Format(
    name="openhands-v1",
    needs="events with `kind`, `source` and `timestamp`",
    claims=_claims_v1,
    module="openhands.v1_reader",
    joins_lines=True,
)
