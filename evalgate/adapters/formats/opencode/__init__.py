"""opencode: an exported session, and the events of `run --format json`. Entry points: `OPENCODE`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

EVENTS = frozenset({"step_start", "text", "reasoning", "tool_use", "step_finish"})
ROWS = frozenset({"opencode_session", "opencode_message", "opencode_part"})


def is_export(value: Any) -> bool:
    """True for a session with its messages, each of which has `info` and `parts`."""
    if not isinstance(value, dict) or not isinstance(value.get("info"), dict):
        return False
    return "info" in first_object(value.get("messages")) and "parts" in first_object(value.get("messages"))


def is_event(value: Any) -> bool:
    """True for an event of `opencode run --format json`, or a row of its tables."""
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return False
    return kind in ROWS or (kind in EVENTS and isinstance(value.get("part"), dict) and "sessionID" in value)


def _claims_opencode(value: Any) -> bool:
    first = first_object(value)
    return is_export(value) or is_event(first) or ("info" in first and "parts" in first)


OPENCODE = Format(
    name="opencode",
    needs="a session with `info` and `messages` of `parts`, or events of `run --format json`",
    claims=_claims_opencode,
    module="opencode.reader",
    joins_lines=True,
)
