"""Builds conversations from the entries of a log: each is a message, a call, or the result of one, by its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import Conversation, build_recorded_call_key
from evalgate.adapters.formats.core.builder.side_fields import add_call_details
from evalgate.adapters.formats.core.fields import FieldError, identifier, read_timestamp
from evalgate.adapters.formats.custom.conversations import (
    NOTHING,
    FieldExpression,
    add_call,
    add_message,
    add_result_entry,
    check_value,
    describe_expression,
    find_value,
    read_call,
    require_list,
)

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Message, ToolCall
    from evalgate.suite.models import CustomMapping, EntryMapping

UNTYPED = "no type"


class EntryReader:
    """Reads the entries of one run in their order; `unknown` are the types that the suite does not name."""

    def __init__(self, custom: CustomMapping, entries: EntryMapping) -> None:
        self.conversation = Conversation()
        self.unknown: dict[str, None] = {}
        self._custom = custom
        self._entries = entries

    def read(self, run: Any) -> None:
        """Reads all entries of a run; raises FieldError."""
        for number, entry in enumerate(find_entries(self._entries, run), 1):
            self._add(entry, f" of entry {number}")

    def _add(self, entry: Any, location: str) -> None:
        name = find_type(self._entries, entry, location)
        kind = None if name is None else self._entries.find_kind(name)
        if kind is None:
            self.unknown[UNTYPED if name is None else name] = None
        elif kind == "call":
            self._add_call(entry, location)
        elif kind != "ignore":
            fields = FieldExpression(self._custom.message, entry, "message.", location)
            if kind == "result" and not fields.get("tool_results", require_list):
                add_result_entry(self.conversation, self._custom, entry, location)
            else:
                role = "tool" if kind == "result" else kind
                add_message(self.conversation, self._custom, fields, role, location)

    def _add_call(self, entry: Any, location: str) -> None:
        """Adds a call, unless it is one that the answer before has requested: its start is another record of it."""
        details = read_call(self._custom, entry, location)
        if self._custom.join:
            ids = FieldExpression(self._custom.join, entry, "join.", location)
            details["id"] = ids.get_required("call_id", identifier)
        requested = self._find_requested(details)
        if requested is not None:
            add_call_details(requested, details, "tool_calls")
            return
        message = self._open_answer()
        if message["timestamp"] is None:
            about = FieldExpression(self._custom.message, entry, "message.", location)
            message["timestamp"] = about.get("timestamp", read_timestamp)
        add_call(self.conversation, message, details)

    def _find_requested(self, details: dict[str, Any]) -> ToolCall | None:
        """The latest call without a result that has this id, name and these arguments."""
        key = build_recorded_call_key(details["name"], details["arguments"])
        for call in reversed(self.conversation.calls if details["id"] is not None else ()):
            if call["id"] == details["id"]:
                known = build_recorded_call_key(call["name"], call["arguments"])
                return call if call["status"] == "missing" and known == key else None
        return None

    def _open_answer(self) -> Message:
        """The last message if it is the agent's and none of its calls has ended, else a new one."""
        conversation = self.conversation
        last = conversation.messages[-1] if conversation.messages else None
        if last is not None and last["role"] == "assistant":
            made = conversation.calls[len(conversation.calls) - len(last["tool_calls"]) :]
            if all(call["status"] == "missing" for call in made):
                return last
        return conversation.add_message("assistant", None)


def find_entries(entries: EntryMapping, run: Any) -> list[Any]:
    """The entries of a run; raises FieldError if the expression finds none."""
    if entries.items is None:
        return require_list(run, "the run")
    where = describe_expression("items", entries.items)
    found = find_value(entries.items, run, where)
    if found is None:
        raise FieldError(where, NOTHING)
    return check_value(found, require_list, where)


def find_type(entries: EntryMapping, entry: Any, location: str = "") -> str | None:
    """The type of an entry; None for one without."""
    return FieldExpression({"type_field": entries.type_field}, entry, "", location).get("type_field", identifier)
