"""The order in which a person reads a trace: each call below the message that requested it; how a call ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace.trace import Message, ToolCall, Trace


def order_conversation(trace: Trace) -> Iterator[Message | list[ToolCall]]:
    """Yields messages, and the calls that follow one; a message that only repeats a call's result is left out."""
    calls = _CallQueue(trace.tool_calls)
    turn = 0
    for message in trace.messages:
        if message["turn"] != turn:
            yield calls.take_before(message["turn"])
            turn = message["turn"]
        if message["role"] == "tool" and calls.has_shown(message):
            continue
        yield message
        yield list(calls.take_requested(message))
    yield calls.take_before(None)


def number_calls(trace: Trace) -> dict[int, int]:
    """The numbers by which reports name the agent's own calls, by index; those of a user simulator have none."""
    return {call["index"]: number for number, call in enumerate(trace.agent_calls, 1)}


def name_outcome(call: ToolCall) -> str:
    """The status of a call in words."""
    return "outcome unknown" if call["status"] == "unknown" else call["status"]


class _CallQueue:
    """The calls of a trace that are not shown yet."""

    def __init__(self, calls: list[ToolCall]) -> None:
        self._left = list(calls)
        self._shown_ids = set[str]()
        self._shown_names = set[str]()

    def take_requested(self, message: Message) -> Iterator[ToolCall]:
        """The calls that a message requests, found by id, else by name."""
        for request in message["tool_calls"]:
            same = [call for call in self._left if request["id"] is not None and call["id"] == request["id"]]
            same = same or [call for call in self._left if call["name"] == request["name"]]
            if same:
                yield self._take(same[0])

    def take_before(self, turn: int | None) -> list[ToolCall]:
        """The calls of earlier turns that no message requested; None for all."""
        return [self._take(call) for call in list(self._left) if turn is None or call["turn"] < turn]

    def has_shown(self, message: Message) -> bool:
        """Whether the message is the result of a call that is shown."""
        if message["tool_call_id"] is not None:
            return message["tool_call_id"] in self._shown_ids
        return (message["tool_name"] or message["name"]) in self._shown_names

    def _take(self, call: ToolCall) -> ToolCall:
        self._left.remove(call)
        self._shown_names.add(call["name"])
        if call["id"] is not None:
            self._shown_ids.add(call["id"])
        return call
