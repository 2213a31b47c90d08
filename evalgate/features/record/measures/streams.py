"""Reads an answer of a provider as one JSON value: decoded, or joined from the events of its stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.features.record.measures.anthropic_stream import EVENTS, AnthropicStream
from evalgate.features.record.measures.chat_stream import ChatStream
from evalgate.features.record.measures.event_stream import (
    BYTE_ORDER_MARK,
    begins_like_stream,
    read_data,
    read_name,
    split_events,
)
from evalgate.features.record.measures.provider_json import decode_json, decode_repaired
from evalgate.features.record.measures.responses_stream import ResponsesStream
from evalgate.measures.text.half_characters import repair_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.features.record.models.exchange import ProviderAnswer

DONE = "[DONE]"
NOT_JSON = "its answer is not a JSON object"
EVENT_NOT_JSON = "an event of its stream is not a JSON object"
EVENT_NOT_UTF_8 = "an event of its stream is not UTF-8"
NO_ANSWER = "its stream has no part of an answer"


class ReadAnswer(NamedTuple):
    """An answer; `problem` is why not all of it could be read.

    `is_complete`: the answer has its end. `has_halves`: a half character in it was replaced by U+FFFD.
    `beside` is an answer of what its parts have beside what is read of them, `own_events` are those of no known API.
    """

    value: dict[str, Any]
    problem: str | None = None
    is_complete: bool = True
    has_halves: bool = False
    beside: dict[str, Any] | None = None
    own_events: Sequence[dict[str, Any]] = ()


Stream = ChatStream | ResponsesStream | AnthropicStream


def read_answer(answer: ProviderAnswer) -> ReadAnswer:
    """An answer, as far as it came and can be read; `value` is empty if nothing can."""
    body = answer.body
    if answer.is_stream or begins_like_stream(body):
        return _Events().read(body)
    try:
        value, has_halves = decode_repaired(body)
    except ValueError:
        return ReadAnswer({}, NOT_JSON)
    return ReadAnswer(value, has_halves=has_halves) if type(value) is dict else ReadAnswer({}, NOT_JSON)


class _Events:
    """Joins the events of one stream."""

    def __init__(self) -> None:
        self._stream: Stream | None = None
        self._error: dict[str, Any] = {}
        self._problem: str | None = None
        self._has_end = self._has_halves = False
        self._own_events: list[dict[str, Any]] = []

    def read(self, body: bytes) -> ReadAnswer:
        """The answer that the events of a body make up."""
        for event in split_events(body.removeprefix(BYTE_ORDER_MARK)):
            self._add_event(event)
        if self._stream is None:
            problem = self._problem or (None if self._error else NO_ANSWER)
            is_complete = bool(self._error) or self._has_end
            return ReadAnswer(self._error, problem, is_complete, own_events=self._own_events)
        stream = self._stream
        is_complete = self._has_end or stream.is_complete or bool(self._error)
        value = {**stream.build(), **self._error}
        has_halves = self._has_halves or stream.has_halves
        value = repair_value(value) if self._has_halves else value
        problem, own_events = self._problem or stream.problem, [*self._own_events, *stream.own_events]
        return ReadAnswer(value, problem, is_complete, has_halves, stream.beside, own_events)

    def _add_event(self, event: bytes) -> None:
        text = event.decode("utf-8", "replace")
        data = (read_data(text) or "").strip()
        if data == DONE:
            self._has_end = True
        if not data or data == DONE:
            return
        if text.encode() != event:
            self._problem = self._problem or EVENT_NOT_UTF_8
        try:
            value, has_halves = decode_json(data)
        except ValueError:
            value, has_halves = None, False
        self._has_halves |= has_halves
        if type(value) is dict:
            self._add_value(value, text)
        else:
            self._problem = self._problem or EVENT_NOT_JSON

    def _add_value(self, value: dict[str, Any], text: str) -> None:
        """Adds an event; one that is of no known API, such as Anthropic's `ping`, has no part of an answer."""
        kind = value.get("type") if type(value.get("type")) is str else None
        if kind == "error" or (kind is None and type(value.get("error")) is dict):
            self._error = {"error": value.get("error", value)}
        if type(value.get("choices")) is list:
            self._use(ChatStream, value)
        elif kind is not None and kind.startswith("response."):
            self._use(ResponsesStream, value)
        elif kind in EVENTS:
            self._use(AnthropicStream, value)
        else:
            self._own_events.append({"type": read_name(text), **value})

    def _use(self, kind: type[Stream], value: dict[str, Any]) -> None:
        """Adds an event to the stream of its API; an answer has events of one API only."""
        if self._stream is None:
            self._stream = kind()
        if type(self._stream) is kind:
            self._stream.add(value)
        else:
            self._problem = self._problem or EVENT_NOT_JSON
