"""Warns of calls that were executed otherwise than the model asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import build_call_key, drop_nulls
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ToolCall, Warning_

MAX_KEYS = 5
"""Arguments that a warning names."""


def list_other_executions(calls: Sequence[ToolCall]) -> list[Warning_]:
    """One warning for each tool that was asked for, and what ran in its place."""
    found: dict[str, Warning_] = {}
    for call in calls:
        if (requested := call.get("requested")) is None:
            continue
        asked, ran = mark_name(requested["name"]), mark_name(call["name"])
        if requested["name"] != call["name"]:
            message = f"asked {asked}, ran {ran}"
        else:
            keys = _name_keys(requested["arguments"], call["arguments"])
            message = f"ran {ran} with other arguments than asked for{keys}"
        found.setdefault(message, {"code": "other_call_executed", "message": message, "where": "tool_calls"})
    return list(found.values())


def _name_keys(asked: Any, ran: Any) -> str:
    """Names the arguments that differ, if both are objects."""
    if not (isinstance(asked, dict) and isinstance(ran, dict)):
        return ""
    one, other = drop_nulls(asked), drop_nulls(ran)
    keys = [key for key in dict.fromkeys([*one, *other]) if _spell(one, key) != _spell(other, key)]
    more = f" and {len(keys) - MAX_KEYS} more" if len(keys) > MAX_KEYS else ""
    return f": {', '.join(map(mark_name, keys[:MAX_KEYS]))}{more}" if keys else ""


def _spell(arguments: dict[str, Any], key: str) -> Any:
    return build_call_key(key, arguments[key]) if key in arguments else None
