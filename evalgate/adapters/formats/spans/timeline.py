"""Assigns messages, tool calls and model calls to steps and turns, in the order of time."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.tree import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.formats.core.build.conversation import Conversation
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.tree import Node
    from evalgate.models.trace.trace import Message

WINDOW = 64  # how many messages are searched backwards for the one that is a model call's output


class Timeline:
    """Numbers the responses of models in time order as steps; calls requested together share a step.

    A response is an assistant message of the conversation, or the output of a model call outside of it (of a
    sub-agent). Each has a position: its step and turn.
    """

    def __init__(
        self, conversation: Conversation, main: Sequence[ModelCall], calls: Sequence[ModelCall]
    ) -> None:
        self._spoken = [message for message in conversation.messages if message["role"] == "assistant"]
        self._last_turn = conversation.messages[-1]["turn"] if conversation.messages else 0
        self.message_of = _aligned(self._spoken, main)
        call_of = {id(message): call for call, message in self.message_of.items()}
        self.spoken_by = {
            number: call_of.get(id(message)) for number, message in enumerate(self._spoken, start=1)
        }
        self._calls = calls
        self._call_of = {id(node): call for call in calls for node in call.nodes}
        self._asked: dict[int, tuple[list[int], list[ModelCall]]] = {}
        for call in calls:
            starts, made = self._asked.setdefault(id(call.owner), ([], []))
            starts.append(call.start)
            made.append(call)
        self._place: dict[int, tuple[int, int]] = {}

    def of_message(self, number: int) -> tuple[int, int]:
        """Step and turn of the conversation's nth response, from 1."""
        return self._place[id(self._spoken[number - 1])]

    def of_call(self, call: ModelCall) -> tuple[int, int]:
        """Step and turn of a model call."""
        message = self.message_of.get(call)
        return self._place[id(call if message is None else message)]

    def of_tool(self, tool: Node | None) -> tuple[int, int]:
        """Step and turn of a tool execution that no model call requested."""
        return self._place[id(tool)]

    def call_before(self, tool: Node) -> ModelCall | None:
        """The model call that most likely requested a tool: the one around it, or the last one before."""
        within = None if tool.within is None else self._call_of.get(id(tool.within))
        if within is not None:
            return within
        starts, made = self._asked.get(id(tool.owner), ([], []))
        place = bisect_right(starts, tool.start)
        return made[place - 1] if place else None

    def number(self, tools: Sequence[Node], times: Mapping[int, int]) -> None:
        """Assigns a step to every response, and a separate one to each of these tools.

        `times`: start of the tools that the nth message requested, for messages without a model call's time.
        """
        inside = set(map(id, self.message_of))
        line: list[tuple[int, int, int, object, int]] = []
        known = max([*times, *(number for number, call in self.spoken_by.items() if call)], default=0)
        time = -1
        for number, message in enumerate(self._spoken, start=1):
            call = self.spoken_by[number]
            time = max(time, times.get(number, -1) if call is None else call.start)
            is_known = number <= known
            line.append((time if is_known else UNKNOWN, 0, number, message, message["turn"]))
        for number, call in enumerate(self._calls):
            if id(call) not in inside:
                line.append((call.start, 1, number, call, -1))
        line += [(tool.start, 2, number, tool, -1) for number, tool in enumerate(tools)]
        turn = self._spoken[0]["turn"] if self._spoken else self._last_turn
        for step, (_, _, _, thing, own_turn) in enumerate(sorted(line, key=lambda one: one[:3]), start=1):
            turn = turn if own_turn < 0 else own_turn
            self._place[id(thing)] = step, turn


def _aligned(spoken: list[Message], main: Sequence[ModelCall]) -> dict[ModelCall, Message]:
    """Finds the message that each call's output became, from the last backwards."""
    found: dict[ModelCall, Message] = {}
    place = len(spoken)
    for call in sorted(main, key=lambda call: call.end, reverse=True):
        for at in range(place - 1, max(-1, place - 1 - WINDOW), -1):
            if _is_output(call, spoken[at]):
                found[call] = spoken[at]
                place = at
                break
    return found


def _is_output(call: ModelCall, message: Message) -> bool:
    """True unless output and message differ. A call without captured content fits any message."""
    output = call.told("output")
    if not output:
        return call.told("input") is None
    asked = [asked.name for said in output for asked in said.calls]
    if asked:
        return asked[: len(message["tool_calls"])] == [ref["name"] for ref in message["tool_calls"]] != []
    texts = tuple(said.content.strip() for said in output if said.content)
    return (message["content"] or "").strip().startswith(texts)
