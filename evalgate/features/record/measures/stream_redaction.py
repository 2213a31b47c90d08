"""Redacts the events of a stream: also a secret that begins in one event and ends in a later one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.measures.redaction.redact import redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Place = tuple[Any, ...]
DATA = "data:"
DELTAS = ("text", "thinking", "partial_json")


def redact_events(events: Sequence[str]) -> list[str]:
    """The events with secrets redacted; an event without a secret is unchanged.

    Texts that come in parts are redacted as a whole: the first part then holds all of it, the others are empty.
    """
    decoded = [_decode(event) for event in events]
    parts: dict[Place, list[tuple[dict[str, Any], str]]] = defaultdict(list)
    for value in decoded:
        if value is not None:
            for place, holder, name in _find_parts(value):
                parts[place].append((holder, name))
    changed: set[int] = set()
    for found in parts.values():
        whole = "".join(holder[name] for holder, name in found)
        clean = redact(whole)
        if clean != "".join(redact(holder[name]) for holder, name in found):
            for index, (holder, name) in enumerate(found):
                holder[name] = "" if index else clean
                changed.add(id(holder))
    return [_encode(event, value, changed) for event, value in zip(events, decoded, strict=True)]


def _decode(event: str) -> dict[str, Any] | None:
    """The JSON of an event of one line of data; None for any other."""
    lines = [line for line in event.splitlines() if line.startswith(DATA)]
    if len(lines) != 1:
        return None
    try:
        value = orjson.loads(lines[0][len(DATA) :])
    except ValueError:
        return None
    return value if type(value) is dict else None


def _encode(event: str, value: dict[str, Any] | None, changed: set[int]) -> str:
    if value is None:
        return redact(event)
    clean = redact_value(value)
    is_joined = any(id(holder) in changed for _, holder, _ in _find_parts(value))
    if clean == _decode(event) and not is_joined:
        return event
    lines = event.splitlines(keepends=True)
    data = f"{DATA} {orjson.dumps(clean).decode()}"
    return "".join(data + line[len(line.rstrip()) :] if line.startswith(DATA) else redact(line) for line in lines)


def _find_parts(event: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any], str]]:
    """The parts of texts in an event: the text that it belongs to, the object that holds it, and its name there."""
    kind, delta = event.get("type"), event.get("delta")
    if type(kind) is str and kind.endswith(".delta") and type(delta) is str:
        place = (kind, event.get("item_id"), event.get("output_index"), event.get("content_index"))
        yield place, event, "delta"
    elif type(delta) is dict:
        for name in DELTAS:
            if type(delta.get(name)) is str:
                yield (name, event.get("index")), delta, name
    choices = event.get("choices")
    for choice in choices if type(choices) is list else ():
        if type(choice) is dict and type(choice.get("delta")) is dict:
            yield from _find_chat_parts(choice["delta"], choice.get("index"))


def _find_chat_parts(delta: dict[str, Any], index: Any) -> Iterator[tuple[Place, dict[str, Any], str]]:
    for name in ("content", "refusal", "reasoning_content"):
        if type(delta.get(name)) is str:
            yield (index, name), delta, name
    calls = delta.get("tool_calls")
    for call in calls if type(calls) is list else ():
        function = call.get("function") if type(call) is dict else None
        if type(function) is dict and type(function.get("arguments")) is str:
            yield (index, "call", call.get("index")), function, "arguments"
