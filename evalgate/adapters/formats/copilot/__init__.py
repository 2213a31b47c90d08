"""GitHub Copilot CLI: the events of its sessions. Entry points: `COPILOT`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object

DOMAINS = ("session.", "assistant.", "user.", "tool.", "system.", "hook.")


def is_copilot_event(value: Any) -> bool:
    """True for an event: a dotted type, its data, and the event before it."""
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict) or "parentId" not in value:
        return False
    kind = value.get("type")
    return isinstance(kind, str) and kind.startswith(DOMAINS)


def _claims_copilot(value: Any) -> bool:
    return is_copilot_event(first_object(value))


COPILOT = Format(
    name="copilot",
    needs="events with `type`, `data`, `timestamp` and `parentId`",
    claims=_claims_copilot,
    module="copilot.reader",
    joins_lines=True,
)
