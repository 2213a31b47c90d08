"""Requires that the calls in the messages of a native trace are those of its `tool_calls`, if it has both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import build_call_key, drop_nulls, read_arguments
from evalgate.adapters.formats.core.fields import FieldError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.core.builder.conversation import Conversation
    from evalgate.models.trace.trace import CallRef, ToolCall

REMEDY = "make them equal, or leave one of the lists out"


def require_equal_lists(conversation: Conversation, recorded: Sequence[Any]) -> None:
    """Raises FieldError for a call of a message that the list has not, elsewhere, or otherwise.

    The list may hold more: calls that no message requests, as those of other agents.
    """
    position = 0
    for place, reference in _iter_references(conversation):
        found = _find_call(conversation.calls, position, reference)
        if found is None:
            listed = "lacks it" if position >= len(conversation.calls) else f"has another at [{position}]"
            raise FieldError(place, f"is not in `tool_calls`, which {listed}, in name, order or arguments: {REMEDY}")
        position = found + 1
    for number, message in enumerate(recorded):
        if isinstance(message, dict) and message.get("role") == "tool" and isinstance(message.get("is_error"), bool):
            _require_outcome(conversation.calls, message, f"messages[{number}].is_error")


def _iter_references(conversation: Conversation) -> Iterator[tuple[str, CallRef]]:
    for message in conversation.messages:
        for number, reference in enumerate(message["tool_calls"]):
            yield f"messages[{message['index']}].tool_calls[{number}]", reference


def _find_call(calls: Sequence[ToolCall], start: int, reference: CallRef) -> int | None:
    return next((at for at in range(start, len(calls)) if _is_same(calls[at], reference)), None)


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
