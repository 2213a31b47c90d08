"""Adds tool calls that only events of an Inspect sample show: by sub-agents, or cut from the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.conversation import BLANK_CALL
from evalgate.adapters.formats.core.build.raw_message import encode_json
from evalgate.adapters.formats.core.call_arguments import read_arguments
from evalgate.adapters.formats.core.content import read_content
from evalgate.adapters.formats.core.fields import mapping, required_text, text, time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.trace.trace import ToolCall

AT = "events"


def merge_event_calls(calls: list[ToolCall], events: Iterable[dict[str, Any]]) -> list[ToolCall]:
    """The calls of the messages, each followed by calls that ran before the next and are in no message."""
    positions: dict[tuple[str | None, str | None], int] = {}
    for number, call in enumerate(calls):
        positions[call["id"], call["name"]] = positions[call["id"], None] = number
    after: dict[int, list[ToolCall]] = {}
    last = -1
    for event in events:
        position = positions.get((event["id"], text(event.get("function"), f"{AT}.function")))
        if position is None:
            after.setdefault(last, []).append(_build_call(event, calls[last] if last >= 0 else None))
        else:
            last = max(last, position)
    found = after.get(-1, [])
    for number, call in enumerate(calls):
        found += [call, *after.get(number, [])]
    for index, call in enumerate(found):
        call["index"] = index
    return found


def _build_call(event: dict[str, Any], preceding: ToolCall | None) -> ToolCall:
    value, raw, problem = read_arguments(event.get("arguments"))
    call: ToolCall = {
        **BLANK_CALL,
        "turn": 1 if preceding is None else preceding["turn"],
        "step": 1 if preceding is None else preceding["step"],
        "id": event["id"],
        "name": required_text(event.get("function"), f"{AT}.function"),
        "arguments": value,
        "arguments_raw": raw,
        "arguments_error": problem,
        "started_at": time(event.get("timestamp"), f"{AT}.timestamp"),
    }
    error = mapping(event.get("error"), f"{AT}.error")
    result = event.get("result")
    if result is not None:
        shown = (
            read_content(result, f"{AT}.result")[0] if isinstance(result, str | list) else encode_json(result)
        )
        call["result"], call["result_text"], call["status"] = result, shown, "ok"
    if error:
        call["status"] = "error"
        call["error"] = {
            "type": text(error.get("type"), f"{AT}.error.type"),
            "message": text(error.get("message"), f"{AT}.error.message") or call["result_text"],
        }
    return call
