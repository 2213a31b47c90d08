"""Joins the events of a stream of OpenAI's Responses API to the response that they make up.

The last event has the whole response. Where it is missing, or has no items as those of some gateways, the items of
the events before it are taken, in the order of their `output_index`.
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

    def __init__(self) -> None:
        self._response: dict[str, Any] = {"object": "response"}
        self._items: dict[int, Item] = {}
        self.is_complete = False
        self.problem: str | None = None

    def add(self, event: dict[str, Any]) -> None:
        """Adds an event; one of an unknown type has no part of the response."""
        kind: str = event["type"]
        if type(event.get("response")) is dict:
            self._response = event["response"]
            self.is_complete |= kind in ENDS
        elif kind.startswith("response.output_item.") and type(event.get("item")) is dict:
            self._items[self._place(event)] = Item(event["item"], is_complete=kind.endswith(".done"))
        elif kind.endswith((".delta", ".done")):
            self._add_part(kind.rpartition(".")[0], kind.rpartition(".")[2], event)

    def build(self) -> dict[str, Any]:
        """The response as far as it came."""
        items = [self._items[place].build() for place in sorted(self._items)]
        given = self._response.get("output")
        has_all = type(given) is list and len(given) >= len(items)
        return {**self._response, "output": given if has_all else items}

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
        if kind not in ARGUMENTS and kind not in TEXTS:
            return
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
