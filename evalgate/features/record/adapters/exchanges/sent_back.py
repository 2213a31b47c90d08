"""Answers of a model that the agent sent back otherwise than it got them: one call each, asked and sent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.adapters.formats.core.builder.conversation import note_execution, read_arguments
from evalgate.features.record.adapters.exchanges.model_calls import MessageKey, build_message_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
    from evalgate.features.record.adapters.exchanges.model_calls import ExchangeCall
    from evalgate.models.trace.trace import ToolCall

Ids = tuple[str, ...]
_Read = tuple[Ids, "list[MessageKey]"]
"""The ids of a message's calls, and what is compared of it."""


class _Answer(Struct):
    """A message that asks for calls, the request that it answers, and whether the agent sent it back since."""

    message: RawMessage
    call: ExchangeCall
    is_unique: bool = True
    is_sent: bool = False


def restore_answers(calls: Iterable[ExchangeCall]) -> dict[str, ToolRequest]:
    """Puts each answer in the place of what the agent made of it; returns the calls that it sent back, by their ids.

    That is known only by the ids of its calls, which no other answer has, and only right after the messages that it
    answers: what a later request makes of it was shortened.
    """
    answers: dict[Ids, _Answer] = {}
    sent: dict[str, ToolRequest] = {}
    seen = Counter[str]()
    known: dict[int, _Read] = {}
    for call in calls:
        _restore(call, answers, sent, known)
        for message in call.answer if call.error is None else ():
            ids = _read_ids(message)
            seen.update(ids)
            if ids in answers:
                answers[ids].is_unique = False
            elif ids:
                answers[ids] = _Answer(message, call)
    return {each: found for each, found in sent.items() if seen[each] == 1}


def note_sent_back(calls: Iterable[ToolCall], sent: Mapping[str, ToolRequest]) -> None:
    """Makes what was sent back what was executed, where it differs."""
    for call in calls:
        found = sent.get(call["id"] or "")
        if found is not None:
            note_execution(call, found.name, read_arguments(found.arguments))


def _read(message: RawMessage) -> _Read:
    return _read_ids(message), build_message_keys(message)


def _read_ids(message: RawMessage) -> Ids:
    """The ids of the calls that a message asks for; none if one has no id."""
    ids = [call.id for call in message.calls]
    return tuple(each or "" for each in ids) if all(ids) else ()


def _restore(
    call: ExchangeCall, answers: Mapping[Ids, _Answer], sent: dict[str, ToolRequest], known: dict[int, _Read]
) -> None:
    messages, keys = list(call.messages), list[MessageKey]()
    for at, message in enumerate(call.messages):
        ids, own = known.get(id(message)) or known.setdefault(id(message), _read(message))
        found = answers.get(ids)
        if found is not None and found.is_unique and message.role == "assistant":
            asked = build_message_keys(found.message)
            if not found.is_sent and keys == found.call.keys and call.system == found.call.system:
                found.is_sent = True
                sent |= {each.id or "": each for each in message.calls} if own != asked else {}
            if found.is_sent and own != asked:
                messages[at], own = found.message, asked
        keys += own
    call.messages, call.keys = messages, keys
