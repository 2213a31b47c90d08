"""salvo's traces. Entry points: `SALVO`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

VIEW = frozenset({"response", "turns", "tool_calls", "metadata"})


def _claims_salvo(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("messages"), list) and isinstance(value.get("tool_calls_made"), list):
        return True
    return value.keys() >= VIEW and isinstance(value["turns"], list) and isinstance(value["tool_calls"], list)


SALVO = Format(
    name="salvo",
    needs="`response`, `turns`, `tool_calls` and `metadata`",
    claims=_claims_salvo,
    module="salvo.reader",
)
