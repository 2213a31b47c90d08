"""Reads the `tool_calls` of a full native trace, which are joined with their results already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import (
    FieldError,
    amount,
    count,
    listing,
    mapping,
    required_text,
    text,
    time,
    whole_number,
)
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.native.parts import read_error_info, read_one_of

if TYPE_CHECKING:
    from evalgate.adapters.formats.native.unknown_fields import UnknownFields
    from evalgate.models.trace.trace import ToolCall

STATUSES = ("ok", "error", "missing")
REQUESTORS = ("assistant", "user")
IGNORED_FIELDS = frozenset({"type", "server", "span_id", "source"})
KNOWN = IGNORED_FIELDS | {
    "index",
    "turn",
    "step",
    "id",
    "name",
    "arguments",
    "arguments_raw",
    "arguments_error",
    "result",
    "result_text",
    "status",
    "error",
    "exit_code",
    "duration_ms",
    "started_at",
    "requestor",
    "agent",
}


def read_calls(recorded: Any, unknown: UnknownFields) -> list[ToolCall]:
    """Every call; its index is its position in the list."""
    calls = []
    for number, value in enumerate(listing(recorded, "tool_calls")):
        try:
            call = mapping(value, "")
            calls.append(_read_call(call, number))
        except FieldError as error:
            raise error.with_prefix(f"tool_calls[{number}]") from None
        for field in sorted(call.keys() - KNOWN):
            unknown.add("tool_calls[]", field, KNOWN)
    return calls


def _read_call(recorded: dict[str, Any], index: int) -> ToolCall:
    require_shallow(recorded, 2)
    get = recorded.get
    result = get("result")
    return {
        "index": index,
        "turn": count(get("turn"), "turn") or 0,
        "step": count(get("step"), "step") or 0,
        "id": text(get("id"), "id"),
        "name": required_text(get("name"), "name"),
        "arguments": get("arguments"),
        "arguments_raw": text(get("arguments_raw"), "arguments_raw"),
        "arguments_error": text(get("arguments_error"), "arguments_error"),
        "result": result,
        "result_text": text(get("result_text"), "result_text"),
        "status": read_one_of(get("status"), STATUSES, "status"),
        "error": None if get("error") is None else read_error_info(get("error"), "error"),
        "exit_code": whole_number(get("exit_code"), "exit_code"),
        "duration_ms": amount(get("duration_ms"), "duration_ms"),
        "started_at": time(get("started_at"), "started_at"),
        "requestor": read_one_of(get("requestor"), REQUESTORS, "requestor"),
        "agent": text(get("agent"), "agent"),
    }
