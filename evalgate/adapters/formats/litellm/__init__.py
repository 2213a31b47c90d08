"""LiteLLM's log of model calls (`StandardLoggingPayload`). Entry points: `LITELLM`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

LOOK_AT = 20
PAYLOAD = frozenset({"call_type", "startTime", "endTime", "response_cost"})
WRAPPER = "standard_logging_object"


def is_payload(value: Any) -> bool:
    """True for the log of one model call."""
    return isinstance(value, dict) and value.keys() >= PAYLOAD


def list_payloads(value: Any) -> list[Any]:
    """The payloads of a document: a list of them, one, or one among a callback's arguments."""
    values = value if isinstance(value, list) else [value]
    return [each[WRAPPER] if isinstance(each, dict) and is_payload(each.get(WRAPPER)) else each for each in values]


def _claims_litellm(value: Any) -> bool:
    return any(map(is_payload, list_payloads(value)[:LOOK_AT]))


LITELLM = Format(
    name="litellm",
    needs="`call_type`, `startTime`, `endTime` and `response_cost`",
    claims=_claims_litellm,
    module="litellm.reader",
    joins_lines=True,
)
