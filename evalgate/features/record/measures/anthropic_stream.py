"""Joins the events of a stream of Anthropic's messages to the answer that they make up."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evalgate.features.record.measures.provider_json import decode_repaired
from evalgate.features.record.measures.stream_rest import Rest, add_rest, join_rest
from evalgate.measures.text.half_characters import repair_text

TEXTS = ("text", "thinking", "signature")
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
EVENTS = frozenset(f"{part}_{end}" for part in ("message", "content_block") for end in ("start", "delta", "stop"))
"""Types of events that have a part of an answer."""
EVENT_FIELDS = frozenset({"type", "index", "delta", "content_block", "message", "usage"})
DELTA_FIELDS = frozenset({*TEXTS, "type", "partial_json"})
NO_BLOCK = "a part of its stream belongs to no block"


class Block(Struct):
    """A block of content; `arguments` is JSON text as far as it came, None if none came."""

    index: int
    content: dict[str, Any]
    arguments: str | None = None
    is_complete: bool = False
    has_halves: bool = False

    def build(self) -> dict[str, Any]:
        """The block with the arguments that came: text where they are no object, None where they were cut."""
        is_cut = not self.is_complete and self.content.get("type") in CALLS and not self.content.get("input")
        if self.arguments is None and not is_cut:
            return self.content
        return {**self.content, "input": self._read_arguments()}

    def _read_arguments(self) -> Any:
        if not (self.arguments or "").strip():
            return {} if self.is_complete else None
        try:
            value, has_halves = decode_repaired(repair_text(self.arguments or ""))
        except ValueError:
            return self.arguments
        self.has_halves |= has_halves
        return value if type(value) is dict else self.arguments


class AnthropicStream:
    """One answer."""

    own_events: tuple[dict[str, Any], ...] = ()

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {"type": "message", "role": "assistant"}
        self._blocks: list[Block] = []
        self._has_ended = False
        self.problem: str | None = None
        self._beside: Rest = {}

    @property
    def beside(self) -> dict[str, Any]:
        """An answer of what its events have beside what is read of them."""
        return join_rest(self._beside)

    @property
    def has_halves(self) -> bool:
        """Whether a half character was replaced in the arguments of a call, once these were built."""
        return any(block.has_halves for block in self._blocks)

    @property
    def is_complete(self) -> bool:
        """Whether the answer has its end."""
        return self._has_ended or self._answer.get("stop_reason") is not None

    def add(self, event: dict[str, Any]) -> None:
        """Adds an event of one of these types."""
        kind = event["type"]
        add_rest(self._beside, event, EVENT_FIELDS)
        for part in (event.get("message"), event.get("delta")):
            self._add_beside(part if type(part) is dict else {})
        if kind == "message_start" and type(event.get("message")) is dict:
            self._answer = dict(event["message"])
        elif kind == "content_block_start" and type(event.get("content_block")) is dict:
            self._blocks.append(Block(_read_index(event, len(self._blocks)), dict(event["content_block"])))
        elif kind in ("content_block_delta", "content_block_stop"):
            self._continue_block(event)
        elif kind == "message_delta":
            self._end(event)
        self._has_ended |= kind == "message_stop"

    def build(self) -> dict[str, Any]:
        """The answer as far as it came, its blocks in the order of their indexes."""
        blocks = sorted(self._blocks, key=lambda block: block.index)
        return {"stop_reason": None, **self._answer, "content": [block.build() for block in blocks]}

    def _add_beside(self, part: dict[str, Any]) -> None:
        """Adds content that is in no block, and the fields of a delta that are not read."""
        if type(part.get("content")) is list:
            self._beside.setdefault("content", []).append(part["content"])
        elif part.get("type") not in ("message", None) and not DELTA_FIELDS.issuperset(part):
            self._beside.setdefault("content", []).append(part)

    def _continue_block(self, event: dict[str, Any]) -> None:
        index = _read_index(event, len(self._blocks) - 1)
        block = next((each for each in reversed(self._blocks) if each.index == index), None)
        if block is None:
            self.problem = NO_BLOCK
        elif event["type"] == "content_block_stop":
            block.is_complete = True
        elif type(delta := event.get("delta")) is dict:
            _add_delta(block, delta)

    def _end(self, event: dict[str, Any]) -> None:
        for key, value in _known(event.get("delta")).items():
            self._answer[key] = value
        self._answer["usage"] = {**_known(self._answer.get("usage")), **_known(event.get("usage"))}


def _add_delta(block: Block, delta: dict[str, Any]) -> None:
    for key in TEXTS:
        if type(delta.get(key)) is str:
            block.content[key] = (block.content.get(key) or "") + delta[key]
    if type(delta.get("partial_json")) is str:
        block.arguments = (block.arguments or "") + delta["partial_json"]


def _read_index(event: dict[str, Any], default: int) -> int:
    index = event.get("index")
    return index if type(index) is int else default


def _known(value: Any) -> dict[str, Any]:
    """The members of an object that are known."""
    return {key: each for key, each in value.items() if each is not None} if type(value) is dict else {}
