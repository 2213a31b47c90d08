"""Requires that the calls in the messages of a native trace are those of its `tool_calls`, if it has both."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import build_call_key, drop_nulls, read_arguments
from evalgate.adapters.formats.core.fields import FieldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.core.builder.conversation import Conversation
    from evalgate.models.trace.trace import CallRef, ToolCall

REMEDY = "make them equal, or leave one of the lists out"


def require_equal_lists(conversation: Conversation, recorded: Sequence[Any]) -> None:
    """Raises FieldError for a call of a message that the list has not, elsewhere, or otherwise.

    The list may hold more: calls that no message requests, as those of other agents.
    """
    position = 0
    listed = _ListedCalls(conversation.calls)
    for asking in conversation.messages:
        if asking["tool_calls"]:
            position = listed.find_end(asking["tool_calls"], position, f"messages[{asking['index']}].tool_calls")
    for number, message in enumerate(recorded):
        if isinstance(message, dict) and message.get("role") == "tool" and isinstance(message.get("is_error"), bool):
            _require_outcome(conversation.calls, message, f"messages[{number}].is_error")


class _ListedCalls:
    """The calls of the list, in which those of one message may stand as they ran, if each has an id and a time."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = calls

    def find_end(self, references: Sequence[CallRef], start: int, place: str) -> int:
        """The position after the calls that a message asks for; raises FieldError if one of them is missing."""
        end = start + len(references)
        if end <= len(self._calls) and all(map(_is_same, self._calls[start:end], references)):
            return end
        ran = self._find_as_executed(references, start)
        return max(ran) + 1 if ran is not None else self._find_in_order(references, start, place)

    def _find_in_order(self, references: Sequence[CallRef], position: int, place: str) -> int:
        for number, reference in enumerate(references):
            found = next((at for at in range(position, len(self._calls)) if _is_same(self._calls[at], reference)), None)
            if found is None:
                listed = "lacks it" if position >= len(self._calls) else f"has another at [{position}]"
                problem = f"is not in `tool_calls`, which {listed}, in name, order or arguments: {REMEDY}"
                raise FieldError(f"{place}[{number}]", problem)
            position = found + 1
        return position

    def _find_as_executed(self, references: Sequence[CallRef], start: int) -> list[int] | None:
        known = [self._by_id.get(reference["id"], -1) for reference in references]
        is_whole = min(known) >= start and len(set(known)) == len(known)
        return known if is_whole and all(map(_is_same, (self._calls[at] for at in known), references)) else None

    @cached_property
    def _by_id(self) -> dict[str | None, int]:
        """The position of each call with a time, by its id."""
        return {call["id"]: at for at, call in enumerate(self._calls) if call["id"] and call["started_at"]}


def _is_same(call: ToolCall, reference: CallRef) -> bool:
    requested = call.get("requested")
    name = call["name"] if requested is None else requested["name"]
    arguments = call["arguments"] if requested is None else requested["arguments"]
    has_other_id = None not in (call["id"], reference["id"]) and call["id"] != reference["id"]
    return name == reference["name"] and not has_other_id and _are_equal(arguments, reference["arguments"])


def _are_equal(one: Any, other: Any) -> bool:
    """Whether arguments are equal as values; what is unknown equals anything."""
    values = [drop_nulls(read_arguments(each).value) for each in (one, other)]
    return None in values or build_call_key("", values[0]) == build_call_key("", values[1])


def _require_outcome(calls: Sequence[ToolCall], message: dict[str, Any], place: str) -> None:
    """Raises FieldError if the call that a result is of has another outcome; only an id that is unique says which."""
    same = [call for call in calls if call["id"] is not None and call["id"] == message.get("tool_call_id")]
    if len(same) != 1:
        return
    has_failed = same[0]["status"] == "error"
    if has_failed is not message["is_error"]:
        raise FieldError(place, f"and the status of `tool_calls[{same[0]['index']}]` differ: {REMEDY}")
