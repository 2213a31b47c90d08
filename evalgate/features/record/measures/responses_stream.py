"""Joins the events of a stream of OpenAI's Responses API to the response that they make up.

The last event has the whole response. Where it is missing, or has no items as those of some gateways, the items of
the events before it are taken, in the order of their `output_index`; so are calls that it lacks.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

ENDS = ("response.completed", "response.incomplete", "response.failed")
ARGUMENTS = {
    "response.function_call_arguments": "arguments",
    "response.mcp_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}
"""Events with parts of a call's arguments, and where the whole has these."""
TEXTS = {"response.output_text": "text", "response.refusal": "refusal"}
WITHOUT_CALLS = ("message", "reasoning")
OF_ITEMS = ("id", "call_id", "status")
NO_ITEM = "a part of its stream belongs to no item"


class Item(Struct):
    """An item of the response; `arguments` and `texts`, by their number, are what came before it was complete."""

    value: dict[str, Any]
    is_complete: bool = False
    field: str | None = None
    arguments: str = ""
    texts: dict[int, dict[str, Any]] = {}

    def build(self) -> dict[str, Any]:
        """The item with what came of it; arguments that were cut are None if nothing came."""
        if self.is_complete:
            return self.value
        if self.texts:
            return {**self.value, "content": [self.texts[number] for number in sorted(self.texts)]}
        field = self.field or next((name for name in ARGUMENTS.values() if name in self.value), None)
        return self.value if field is None else {**self.value, field: self.arguments or None}


class ResponsesStream:
    """One response."""

    has_halves = False
    beside = None

    def __init__(self) -> None:
        self._response: dict[str, Any] = {"object": "response"}
        self._items: dict[int, Item] = {}
        self.is_complete = False
        self.problem: str | None = None
        self.own_events: list[dict[str, Any]] = []
        """Those that belong to no response and no item."""

    def add(self, event: dict[str, Any]) -> None:
        """Adds an event; one of an unknown type has no part of the response."""
        kind: str = event["type"]
        if type(event.get("response")) is dict:
            self._response = event["response"]
            self.is_complete |= kind in ENDS
        elif kind.startswith("response.output_item.") and type(event.get("item")) is dict:
            self._items[self._place(event)] = Item(event["item"], is_complete=kind.endswith(".done"))
        elif kind.endswith((".delta", ".done")) and kind.rpartition(".")[0] in (*ARGUMENTS, *TEXTS):
            self._add_part(kind.rpartition(".")[0], kind.rpartition(".")[2], event)
        elif self._place(event) not in self._items:
            self.own_events.append(event)

    def build(self) -> dict[str, Any]:
        """The response as far as it came."""
        items = [self._items[place].build() for place in sorted(self._items)]
        given = self._response.get("output")
        given = given if type(given) is list else []
        first, second = (given, items) if len(given) >= len(items) else (items, given)
        return {**self._response, "output": [*_list_missing(second, first), *first]}

    def _place(self, event: dict[str, Any]) -> int:
        """Where an item stands; without an index one with its id, else after all others."""
        index = event.get("output_index")
        if type(index) is int:
            return index
        same = event["item"] if "item" in event else {"id": event.get("item_id")}
        for place, item in self._items.items():
            if any(same.get(key) and same[key] == item.value.get(key) for key in ("id", "call_id")):
                return place
        return max(self._items, default=-1) + 1

    def _add_part(self, kind: str, end: str, event: dict[str, Any]) -> None:
        """Adds a part of a text or of arguments, or the whole of it."""
        item = self._items.get(self._place(event))
        field = ARGUMENTS.get(kind) or TEXTS[kind]
        part = event.get("delta" if end == "delta" else field)
        if item is None or type(part) is not str:
            self.problem = self.problem or NO_ITEM
        elif kind in ARGUMENTS:
            item.field = field
            item.arguments = part if end == "done" else item.arguments + part
        else:
            number = event.get("content_index")
            number = number if type(number) is int else 0
            before = "" if end == "done" else item.texts.get(number, {}).get(field, "")
            item.texts[number] = {"type": kind.rpartition(".")[2], field: before + part}


def _list_missing(items: list[Any], others: list[Any]) -> list[dict[str, Any]]:
    """The items with calls, or what came of them, that others have neither by an id nor by their values."""
    known = [key for each in others for key in _list_keys(each)]
    return [each for each in items if (keys := _list_keys(each)) and not any(key in known for key in keys)]


def _list_keys(item: Any) -> list[Any]:
    if type(item) is not dict or item.get("type") in WITHOUT_CALLS:
        return []
    values = [{key: value for key, value in item.items() if key not in OF_ITEMS}]
    return [*((key, item[key]) for key in ("id", "call_id") if item.get(key)), *values]
