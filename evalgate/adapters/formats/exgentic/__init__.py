"""Exgentic sessions. Entry points: `EXGENTIC`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

SESSION_RESULT = frozenset({"session_id", "agent_cost", "execution_time", "steps"})


def _claims_exgentic(value: Any) -> bool:
    if not isinstance(value, dict) or "session_id" not in value:
        return False
    if value.keys() >= SESSION_RESULT:
        return True
    event = value.get("event")
    return "step" in value and isinstance(event, str) and event in {"action", "observation"}


EXGENTIC = Format(
    name="exgentic",
    needs="lines with `event`, `session_id` and `step`",
    claims=_claims_exgentic,
    module="exgentic.reader",
    joins_lines=True,
)
