"""Turns tau2's clock ticks, in which both sides may speak at once, into messages."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import listing, mapping, text

SIDES = {"user": "user", "assistant": "agent"}
"""The role of a message, and the prefix of its fields in a tick."""


def messages_of(ticks: list[Any]) -> list[dict[str, Any]]:
    """Merges ticks into messages, in the order in which they begin; raises FieldError.

    A message ends when only the other side speaks, or when a tool is called.
    """
    speech = _Speech()
    for number, value in enumerate(ticks):
        path = f"ticks[{number}]"
        tick = mapping(value, path)
        when = text(tick.get("timestamp"), f"{path}.timestamp")
        words = {role: _words(tick, side, path) for role, side in SIDES.items()}
        for role, said in words.items():
            if said:
                speech.add(role, said, when, alone=sum(map(bool, words.values())) == 1)
        for role, side in SIDES.items():
            _add_calls(speech, tick, role, f"{path}.{side}_tool")
    speech.end()
    return speech.messages


def _words(tick: dict[str, Any], side: str, path: str) -> str | None:
    """The text of a side in a tick; audio chunks have none."""
    at = f"{path}.{side}_chunk"
    chunk = mapping(tick.get(f"{side}_chunk"), at)
    if not chunk.get("is_audio"):
        said = text(chunk.get("content"), f"{at}.content")
        if said:
            return said
    return text(tick.get("user_transcript"), f"{path}.user_transcript") if side == "user" else None


def _add_calls(speech: _Speech, tick: dict[str, Any], role: str, path: str) -> None:
    side = SIDES[role]
    calls = listing(tick.get(f"{side}_tool_calls"), f"{path}_calls")
    results = listing(tick.get(f"{side}_tool_results"), f"{path}_results")
    if not (calls or results):
        return
    speech.end()
    when = tick.get("timestamp")
    if calls:
        made = [
            {**mapping(call, f"{path}_calls[{number}]"), "requestor": role}
            for number, call in enumerate(calls)
        ]
        speech.messages.append({"role": role, "content": None, "tool_calls": made, "timestamp": when})
    for number, result in enumerate(results):
        speech.messages.append({**mapping(result, f"{path}_results[{number}]"), "role": "tool"})


class _Speech:
    """Merges ticks into messages; keeps one open message per side."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._open: dict[str, list[str]] = {}

    def add(self, role: str, said: str, when: str | None, *, alone: bool) -> None:
        """Adds text; if only this side speaks in the tick, the other side's message ends."""
        if alone:
            self._end([other for other in self._open if other != role])
        if role not in self._open:
            self._open[role] = []
            self.messages.append({"role": role, "content": self._open[role], "timestamp": when})
        self._open[role].append(said)

    def end(self) -> None:
        """Ends all open messages."""
        self._end(list(self._open))

    def _end(self, roles: list[str]) -> None:
        for role in roles:
            words = self._open.pop(role)
            for message in reversed(self.messages):
                if message["content"] is words:
                    message["content"] = "".join(words)
                    break
