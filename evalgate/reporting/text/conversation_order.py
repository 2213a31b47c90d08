"""The order in which a person reads a trace: each call below the message that requested it; how a call ended.

Calls of agents that another one started are in no message: they follow the calls before them in time.
"""

from __future__ import annotations

from itertools import compress
from operator import or_
from typing import TYPE_CHECKING

from evalgate.models.trace.actors import ROOT, is_helper

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalgate.models.trace.trace import Message, ToolCall, Trace


def order_conversation(trace: Trace) -> Iterator[Message | list[ToolCall]]:
    """Yields messages, and the calls that follow one; a message that only repeats a call's result is left out."""
    calls = _CallQueue(trace)
    turn = 0
    for message in trace.messages:
        if message["turn"] != turn:
            yield calls.take_before(message["turn"])
            turn = message["turn"]
        if message["role"] == "tool" and calls.has_shown(message):
            continue
        requested = list(calls.take_requested(message))
        yield calls.take_unrequested(requested)
        yield message
        yield [*requested, *calls.take_of_others()]
    yield calls.take_before(None)


def number_calls(trace: Trace) -> dict[int, int]:
    """The numbers by which reports name the agent's own calls, by index; those of a user simulator have none."""
    return {call["index"]: number for number, call in enumerate(trace.agent_calls, 1)}


def name_outcome(call: ToolCall) -> str:
    """The status of a call in words; of a recorded result that nothing calls a success or an error, `returned`."""
    if call["status"] != "unknown":
        return call["status"]
    has_result = call["result"] is not None or call["result_text"] is not None
    return "returned" if has_result else "outcome unknown"


def measure_depth(call: ToolCall) -> int:
    """How far below the main agent a call was made: 0 for its own and where that is unknown."""
    return 1 if is_helper(call["actor"]) else (call["actor"] or "").count("/")


def name_actor(call: ToolCall, numbers: Mapping[int, int]) -> str | None:
    """Who made a call, if another agent than the main one, with the number of the call that started that one."""
    if call["actor"] is None or not measure_depth(call):
        return None
    starter = numbers.get(-1 if call["started_by"] is None else call["started_by"])
    who = call["agent"] or call["actor"].rpartition("/")[2]
    return who if starter is None else f"{who}, started by call {starter}"


def count_actors(trace: Trace) -> int:
    """How many agents called tools, with the main one."""
    actors = {call["actor"] for call in trace.tool_calls if call["actor"] and not is_helper(call["actor"])}
    return len(actors | {ROOT})


class _CallQueue:
    """The calls of a trace that are not shown yet."""

    def __init__(self, trace: Trace) -> None:
        self._left = list(trace.tool_calls)
        requests = [request for message in trace.messages for request in message["tool_calls"]]
        self._requested = {request["name"] if request["id"] is None else request["id"] for request in requests}
        self._shown = 0
        self._shown_ids = set[str]()
        self._shown_names = set[str]()

    def take_requested(self, message: Message) -> Iterator[ToolCall]:
        """The calls that a message requests, found by id, else by name."""
        for request in message["tool_calls"]:
            same = [call for call in self._left if request["id"] is not None and call["id"] == request["id"]]
            same = same or [call for call in self._left if call["name"] == request["name"]]
            if same:
                yield self._take(same[0])

    def take_unrequested(self, following: list[ToolCall]) -> list[ToolCall]:
        """The calls that no message requests, made before those that follow: of an agent that handed over, for one."""
        first = min((call["index"] for call in following), default=-1)
        earlier = [call for call in self._left if call["index"] < first]
        return [self._take(call) for call in earlier if (call["id"] or call["name"]) not in self._requested]

    def take_of_others(self) -> list[ToolCall]:
        """The calls of other agents that follow those shown, up to the next call of the main one."""
        if not self._shown:
            return []
        own = (call["index"] for call in self._left if not measure_depth(call))
        following = min(own, default=None)
        others = [call for call in self._left if measure_depth(call)]
        return [self._take(call) for call in others if following is None or call["index"] < following]

    def take_before(self, turn: int | None) -> list[ToolCall]:
        """The main agent's calls of earlier turns that no message requested, with those between them; None for all."""
        is_due = [turn is None or (call["turn"] < turn and not measure_depth(call)) for call in self._left]
        last = max(compress(range(len(is_due)), is_due), default=-1)
        is_between = [at < last and bool(measure_depth(call)) for at, call in enumerate(self._left)]
        return [self._take(call) for call in list(compress(self._left, map(or_, is_due, is_between)))]

    def has_shown(self, message: Message) -> bool:
        """Whether the message is the result of a call that is shown."""
        if message["tool_call_id"] is not None:
            return message["tool_call_id"] in self._shown_ids
        return (message["tool_name"] or message["name"]) in self._shown_names

    def _take(self, call: ToolCall) -> ToolCall:
        self._left.remove(call)
        self._shown += 1
        self._shown_names.add(call["name"])
        if call["id"] is not None:
            self._shown_ids.add(call["id"])
        return call
