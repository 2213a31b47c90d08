"""SWE-agent trajectories. Entry points: `SWE_AGENT`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format


def _claims_swe_agent(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(history := value.get("history"), list) or not history:
        return False
    first = history[0]
    if not isinstance(first, dict) or "role" not in first:
        return False
    return isinstance(value.get("trajectory"), list) or "agent" in first or "message_type" in first


SWE_AGENT = Format(
    name="swe-agent",
    needs="an object with `history` and `trajectory`",
    claims=_claims_swe_agent,
    module="swe_agent.reader",
)
