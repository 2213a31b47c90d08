"""Joins the events of a stream of chat completions to the answer that they make up."""

from __future__ import annotations

from typing import Any

from evalgate.features.record.measures.call_deltas import CallDeltas

TEXTS = ("content", "refusal", "reasoning_content")
FACTS = ("id", "model", "usage", "created")
OTHER_CALLS = "it has several answers, and another than the first asks for a call"


class ChatStream:
    """One answer: its first choice."""

    has_halves = False

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._message: dict[str, Any] = {"role": "assistant", "content": None}
        self._choice: dict[str, Any] = {}
        self._calls, self._legacy = CallDeltas(), CallDeltas()
        self._has_other_calls = False

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
        for choice in event["choices"]:
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
