"""Joins the events of a stream of chat completions to the answer that they make up."""

from __future__ import annotations

from typing import Any

from evalgate.features.record.measures.call_deltas import CallDeltas
from evalgate.features.record.measures.stream_rest import Rest, add_rest, join_rest

TEXTS = ("content", "refusal", "reasoning_content")
FACTS = ("id", "model", "usage", "created")
CHUNK_FIELDS = frozenset({*FACTS, "object", "choices"})
CHOICE_FIELDS = frozenset({"index", "finish_reason", "delta", "message"})
MESSAGE_FIELDS = frozenset({*TEXTS, "role"})
DELTA_FIELDS = MESSAGE_FIELDS | {"tool_calls", "function_call"}
OTHER_CALLS = "it has several answers, and another than the first asks for a call"


class ChatStream:
    """One answer: its first choice."""

    has_halves = False
    own_events: tuple[dict[str, Any], ...] = ()

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._choice: dict[str, Any] = {}
        self._calls, self._legacy = CallDeltas(), CallDeltas()
        self._has_other_calls = False
        self._beside: Rest = {}
        self._beside_choice: Rest = {}
        self._beside_message: Rest = {}

    @property
    def beside(self) -> dict[str, Any]:
        """An answer of what its parts have beside what is read of them."""
        message, choice = join_rest(self._beside_message), join_rest(self._beside_choice)
        shown = [{**choice, "message": message}] if message or choice else []
        return {**join_rest(self._beside), "choices": shown}

    @property
    def problem(self) -> str | None:
        """Why a call can't be told."""
        return self._calls.problem or self._legacy.problem or (OTHER_CALLS if self._has_other_calls else None)

    @property
    def is_complete(self) -> bool:
        """Whether the answer has its end."""
        return "finish_reason" in self._choice

    def add(self, event: dict[str, Any]) -> None:
        """Adds an event."""
        for key in FACTS:
            if event.get(key) is not None:
                self._answer[key] = event[key]
        add_rest(self._beside, event, CHUNK_FIELDS)
        for choice in event["choices"]:
            self._add_beside(choice)
            if type(choice) is dict and choice.get("index", 0) in (0, None):
                self._add_choice(choice)
            elif type(choice) is dict and _asks_for_call(choice.get("delta")):
                self._has_other_calls = True

    def build(self) -> dict[str, Any]:
        """The answer as far as it came."""
        if not self._choice:
            return {**self._answer, "choices": []}
        if calls := self._calls.build():
            self._message["tool_calls"] = calls
        for call in self._legacy.build():
            self._message["function_call"] = call["function"]
        return {**self._answer, "choices": [{**self._choice, "message": self._message}]}

    def _add_beside(self, choice: Any) -> None:
        """Adds what is not read of a choice; a message beside a delta repeats the text of all deltas."""
        add_rest(self._beside_choice, choice, CHOICE_FIELDS)
        if type(choice) is dict:
            is_only = "delta" not in choice
            add_rest(self._beside_message, choice.get("delta"), DELTA_FIELDS)
            add_rest(self._beside_message, choice.get("message"), DELTA_FIELDS if is_only else MESSAGE_FIELDS)

    def _add_choice(self, choice: dict[str, Any]) -> None:
        self._choice.setdefault("index", 0)
        if choice.get("finish_reason") is not None:
            self._choice["finish_reason"] = choice["finish_reason"]
        delta = choice.get("delta", choice.get("message"))  # some send a whole answer as the only event
        if type(delta) is not dict:
            return
        for key in TEXTS:
            self._add_text(key, delta.get(key))
        model = self._answer.get("model")
        model = model if type(model) is str else None
        if delta.get("tool_calls") is not None:
            self._calls.add(delta["tool_calls"], model)
        if type(delta.get("function_call")) is dict:
            self._legacy.add([{"index": 0, "function": delta["function_call"]}], model)

    def _add_text(self, key: str, part: Any) -> None:
        """Adds a part of a text: text itself, or a list of typed parts as Mistral's reasoning models send."""
        known = self._message.get(key)
        if type(part) is str and type(known) is list:
            known.append({"type": "text", "text": part})
        elif type(part) is str:
            self._message[key] = (known or "") + part
        elif type(part) is list:
            before = [{"type": "text", "text": known}] if type(known) is str and known else known or []
            self._message[key] = [*before, *part]


def _asks_for_call(delta: Any) -> bool:
    return type(delta) is dict and bool(delta.get("tool_calls") or delta.get("function_call"))
