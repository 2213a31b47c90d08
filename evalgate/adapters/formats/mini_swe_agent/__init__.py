"""mini-swe-agent trajectories. Entry points: `MINI_SWE_AGENT`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

LOOK_AT = 8
RETURN_CODE = "<returncode>"


def _claims_mini_swe_agent(value: Any) -> bool:
    if isinstance(value, dict):
        format_name = value.get("trajectory_format")
        if isinstance(format_name, str) and format_name.startswith("mini-swe-agent"):
            return isinstance(value.get("messages"), list)
        return _claims_mini_swe_agent(value.get("messages")) if isinstance(value.get("info"), dict) else False
    if not isinstance(value, list):
        return False
    return any(map(_is_observation, value[:LOOK_AT]))


def _is_observation(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("role") != "user":
        return False
    content = message.get("content")
    return isinstance(content, str) and content.startswith(RETURN_CODE)


MINI_SWE_AGENT = Format(
    name="mini-swe-agent",
    needs="messages, some of which begin with <returncode>",
    claims=_claims_mini_swe_agent,
    module="mini_swe_agent.reader",
)
