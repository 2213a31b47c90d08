"""Joins the parts of tool calls in a stream of chat completions to whole calls.

A part belongs to a call by its index. Not all providers number their calls: Ollama gives all the index 0
(https://github.com/ollama/ollama/issues/15457), others give none; so an id that differs begins a new call, and
without an index the id decides, else the place in the list.
"""

from __future__ import annotations

from typing import Any

import orjson
from msgspec import Struct

NAMES_IN_PARTS = {"gemini": "https://github.com/continuedev/continue/pull/5849"}
"""Models, by a word of their names, that send the name of a tool in parts, and where that was reported."""
TWO_NAMES = "parts of one call name two tools"
NO_LIST = "the calls of an event are no list of objects"


class StreamedCall(Struct):
    """A call as far as its parts came; `arguments` is JSON text."""

    place: int
    id: str | None = None
    name: str = ""
    arguments: str = ""
    is_custom: bool = False

    def build(self) -> dict[str, Any]:
        """The call as an answer that is no stream has it."""
        if self.is_custom:
            return {"id": self.id, "type": "custom", "custom": {"name": self.name, "input": self.arguments}}
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


class CallDeltas:
    """Collects the calls of one answer; `problem` is why one of them can't be told."""

    def __init__(self) -> None:
        self._calls: list[StreamedCall] = []
        self._latest: dict[int, StreamedCall] = {}
        self.problem: str | None = None

    def add(self, parts: Any, model: str | None) -> None:
        """Adds the list of one event."""
        for position, part in enumerate(parts if type(parts) is list else [parts]):
            if type(part) is dict:
                self._add(part, position, model or "")
            else:
                self.problem = NO_LIST

    def build(self) -> list[dict[str, Any]]:
        """The calls in the order of their indexes; those of one index as they came."""
        return [call.build() for call in sorted(self._calls, key=lambda call: call.place)]

    def _add(self, part: dict[str, Any], position: int, model: str) -> None:
        is_custom = type(part.get("custom")) is dict
        target = part["custom"] if is_custom else part.get("function")
        target = target if type(target) is dict else {}
        name, arguments = _text(target.get("name")), _as_json(target.get("input" if is_custom else "arguments"))
        call = self._find(part, position, name, has_more=bool(arguments.strip()), joins_names=_joins_names(model))
        call.is_custom |= is_custom
        call.id = call.id or _text(part.get("id")) or None
        call.name = self._choose_name(call.name, name, joins_names=_joins_names(model))
        call.arguments += arguments

    def _find(
        self, part: dict[str, Any], position: int, name: str, *, has_more: bool, joins_names: bool
    ) -> StreamedCall:
        """The call that a part belongs to, a new one if it begins one."""
        index, call_id = part.get("index"), _text(part.get("id"))
        place = index if type(index) is int else position
        call: StreamedCall | None = self._latest.get(place)
        if call is not None and call_id and call.id not in (None, call_id):
            call = None
        elif call is not None and (call.id is None or not call_id):
            call = None if self._begins_another(call, name, has_more=has_more, joins_names=joins_names) else call
        if call is None and call_id:
            same = (
                each for each in self._calls if each.id == call_id and (type(index) is not int or each.place == place)
            )
            call = next(same, None)
        if call is None:
            call = StreamedCall(place)
            self._calls.append(call)
        self._latest[place] = call
        return call

    def _begins_another(self, call: StreamedCall, name: str, *, has_more: bool, joins_names: bool) -> bool:
        """Whether a part without an id that tells calls apart begins another call, by its name."""
        if not name or not call.name:
            return False
        if _is_object(call.arguments):
            return has_more or not name.startswith(call.name)
        if name.startswith(call.name) or joins_names:
            return False
        self.problem = TWO_NAMES
        return True

    def _choose_name(self, stored: str, name: str, *, joins_names: bool) -> str:
        if not stored or name.startswith(stored):
            return name or stored
        if name and joins_names:
            return stored + name
        if name:
            self.problem = TWO_NAMES
        return stored


def _joins_names(model: str) -> bool:
    return any(word in model.lower() for word in NAMES_IN_PARTS)


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _as_json(arguments: Any) -> str:
    """Arguments as text; some gateways send the object itself."""
    if arguments is None or type(arguments) is str:
        return arguments or ""
    try:
        return orjson.dumps(arguments).decode()
    except TypeError:  # half characters, or deeper than orjson writes: no arguments that can be read
        return str(arguments)


def _is_object(text: str) -> bool:
    try:
        return type(orjson.loads(text)) is dict
    except ValueError:
        return False
