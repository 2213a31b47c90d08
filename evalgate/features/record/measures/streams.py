"""Server-sent events: splits a stream at its blank lines, and joins the events of an answer to the whole answer."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalgate.features.record.models.exchange import ProviderAnswer

_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")
DONE = "[DONE]"


class EventSplitter:
    """Splits bytes, as they come, after each blank line."""

    def __init__(self) -> None:
        self._pending = bytearray()

    @property
    def rest(self) -> bytes:
        """What came after the last blank line."""
        return bytes(self._pending)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields each event that is complete now, with its blank line."""
        searched = max(0, len(self._pending) - 3)
        self._pending += data
        ends = [blank.end() for blank in _BLANK_LINE.finditer(self._pending, searched)]
        for start, end in pairwise([0, *ends]):
            yield bytes(self._pending[start:end])
        del self._pending[: ends[-1] if ends else 0]


def read_answer(answer: ProviderAnswer) -> Any:
    """The answer as one JSON value: decoded, or joined from its events; None if it is neither."""
    if not answer.is_stream:
        return _decode(answer.body)
    return join_events(_read_events(chunk for _, chunk in answer.chunks))


def join_events(events: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The answer that a provider's events make up, as far as they came; None without any that is known."""
    joined: dict[str, Any] | None = None
    for event in events:
        kind = event.get("type")
        if type(event.get("choices")) is list:
            joined = _add_chat_chunk(joined or {"choices": []}, event)
        elif type(kind) is str and kind.startswith("response."):
            joined = _add_responses_event(joined or {"object": "response", "output": []}, kind, event)
        elif kind == "error" or (kind is None and type(event.get("error")) is dict):
            joined = {**(joined or {}), "error": event.get("error", event)}
        elif type(kind) is str:
            joined = _add_anthropic_event(joined, kind, event)
    return joined


def _read_events(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for chunk in chunks:
        lines = [line for line in chunk.decode("utf-8", "replace").splitlines() if line.startswith("data:")]
        data = "\n".join(line[5:].removeprefix(" ") for line in lines)
        if data and data != DONE and type(event := _decode(data)) is dict:
            yield event


def _decode(data: bytes | str) -> Any:
    try:
        return orjson.loads(data)
    except ValueError:
        return None


def _add_chat_chunk(joined: dict[str, Any], chunk: dict[str, Any]) -> dict[str, Any]:
    for key in ("id", "model", "usage", "created"):
        if chunk.get(key) is not None:
            joined[key] = chunk[key]
    for choice in chunk["choices"]:
        if type(choice) is not dict or choice.get("index", 0) != 0:
            continue
        if not joined["choices"]:
            joined["choices"] = [{"index": 0, "message": {"role": "assistant", "content": None}}]
        first = joined["choices"][0]
        if type(delta := choice.get("delta")) is dict:
            _add_chat_delta(first["message"], delta)
        if choice.get("finish_reason") is not None:
            first["finish_reason"] = choice["finish_reason"]
    return joined


def _add_chat_delta(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("content", "refusal", "reasoning_content"):
        if type(delta.get(key)) is str:
            message[key] = (message.get(key) or "") + delta[key]
    for number, part in enumerate(delta.get("tool_calls") or ()):
        calls = message.setdefault("tool_calls", [])
        index = part.get("index", number)
        call = next((each for each in calls if each["index"] == index), None)
        if call is None:
            call = {"index": index, "id": None, "type": "function", "function": {"name": "", "arguments": ""}}
            calls.append(call)
        call["id"] = part.get("id") or call["id"]
        function = part.get("function") or {}
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""


def _add_responses_event(joined: dict[str, Any], kind: str, event: dict[str, Any]) -> dict[str, Any]:
    if type(event.get("response")) is dict:
        found: dict[str, Any] = event["response"]
        return found if found.get("output") else {**found, "output": joined["output"]}
    if kind == "response.output_item.done" and type(event.get("item")) is dict:
        joined["output"] = [*joined["output"], event["item"]]
    return joined


def _add_anthropic_event(joined: dict[str, Any] | None, kind: str, event: dict[str, Any]) -> dict[str, Any] | None:
    if kind == "message_start" and type(event.get("message")) is dict:
        return {**event["message"], "content": []}
    if joined is None:
        return None
    if kind == "content_block_start" and type(event.get("content_block")) is dict:
        joined["content"].append({**event["content_block"], "index": event.get("index")})
    elif kind in ("content_block_delta", "content_block_stop"):
        block = next((each for each in joined["content"] if each["index"] == event.get("index")), None)
        if block is not None:
            _add_block_delta(block, event.get("delta") or {})
    elif kind == "message_delta":
        joined.update({key: value for key, value in (event.get("delta") or {}).items() if value is not None})
        joined["usage"] = {**(joined.get("usage") or {}), **_known(event.get("usage") or {})}
    return joined


def _add_block_delta(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("text", "thinking", "signature"):
        if type(delta.get(key)) is str:
            block[key] = (block.get(key) or "") + delta[key]
    if type(delta.get("partial_json")) is str:
        block["partial_json"] = block.get("partial_json", "") + delta["partial_json"]
    if not delta and "partial_json" in block:  # the block is complete
        text = block.pop("partial_json")
        decoded = _decode(text) if text else {}
        block["input"] = decoded if type(decoded) is dict else text


def _known(usage: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in usage.items() if value is not None}
