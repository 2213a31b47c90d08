"""Assigns messages, tool calls and model calls to steps and turns in the order of time; warns of odd clocks."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from evalgate.adapters.formats.spans.span import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.adapters.formats.core.builder.conversation import Conversation
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.models.trace.trace import Message, Warning_

FASTEST_TOKENS_A_MS = 5.0  # no provider answers with 5,000 tokens a second; replays do


def format_rfc3339(time_ns: int | None) -> str | None:
    """Nanoseconds since 1970 as RFC 3339 in UTC, to the microsecond; None if out of the calendar's range."""
    if time_ns is None:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_ns // 1000)
    except OverflowError:
        return None
    return moment.isoformat().replace("+00:00", "Z")


def clock_warnings(total_ms: float | None, calls: Sequence[ModelCall]) -> list[Warning_]:
    """Warns if models answered faster than any can: a replayed trace or made-up timestamps."""
    tokens, spent_ms = 0, 0.0
    for call in calls:
        output_tokens = None if call.usage is None else call.usage["output_tokens"]
        if output_tokens and call.duration_ms is not None:
            tokens += output_tokens
            spent_ms += call.duration_ms
    if total_ms == 0:
        message = "the run took no time at all: its timestamps may be synthetic"
    elif tokens and tokens > spent_ms * FASTEST_TOKENS_A_MS:
        message = (
            f"{tokens:,} tokens were generated in {spent_ms:,.1f} ms: this is a replay, or the timestamps are synthetic"
        )
    else:
        return []
    return [{"code": "suspicious_latency", "message": message, "where": "latency"}]


WINDOW = 64  # how many messages are searched backwards for the one that is a model call's output


class Timeline:
    """Numbers the responses of models in time order as steps; calls requested together share a step.

    A response is an assistant message of the conversation, or the output of a model call outside of it (of a
    sub-agent). Each has a position: its step and turn.
    """

    def __init__(self, conversation: Conversation, main: Sequence[ModelCall], calls: Sequence[ModelCall]) -> None:
        self._responses = [message for message in conversation.messages if message["role"] == "assistant"]
        self._last_turn = conversation.messages[-1]["turn"] if conversation.messages else 0
        self.message_of = _align_outputs(self._responses, main)
        call_of = {id(message): call for call, message in self.message_of.items()}
        self.response_calls = {
            number: call_of.get(id(message)) for number, message in enumerate(self._responses, start=1)
        }
        self._calls = calls
        self._call_of = {id(node): call for call in calls for node in call.nodes}
        self._calls_by_agent: dict[int, tuple[list[int], list[ModelCall]]] = {}
        for call in calls:
            starts, made = self._calls_by_agent.setdefault(id(call.owner), ([], []))
            starts.append(call.start)
            made.append(call)
        self._positions: dict[int, tuple[int, int]] = {}

    def position_of_response(self, number: int) -> tuple[int, int]:
        """Step and turn of the conversation's nth response, from 1."""
        return self._positions[id(self._responses[number - 1])]

    def position_of_call(self, call: ModelCall) -> tuple[int, int]:
        """Step and turn of a model call."""
        message = self.message_of.get(call)
        return self._positions[id(call if message is None else message)]

    def position_of_tool(self, tool: SpanNode | None) -> tuple[int, int]:
        """Step and turn of a tool execution that no model call requested."""
        return self._positions[id(tool)]

    def find_requesting_call(self, tool: SpanNode) -> ModelCall | None:
        """The model call that most likely requested a tool: the one around it, or the last one before."""
        within = None if tool.within is None else self._call_of.get(id(tool.within))
        if within is not None:
            return within
        starts, made = self._calls_by_agent.get(id(tool.owner), ([], []))
        index = bisect_right(starts, tool.start)
        return made[index - 1] if index else None

    def assign_steps(self, tools: Sequence[SpanNode], times: Mapping[int, int]) -> None:
        """Assigns a step to every response, and a separate one to each of these tools.

        `times`: start of the tools that the nth message requested, for messages without a model call's time.
        """
        message_calls = set(map(id, self.message_of))
        entries: list[tuple[int, int, int, object, int]] = []
        last = max([*times, *(number for number, call in self.response_calls.items() if call)], default=0)
        time = -1
        for number, message in enumerate(self._responses, start=1):
            call = self.response_calls[number]
            time = max(time, times.get(number, -1) if call is None else call.start)
            is_timed = number <= last
            entries.append((time if is_timed else UNKNOWN, 0, number, message, message["turn"]))
        for number, call in enumerate(self._calls):
            if id(call) not in message_calls:
                entries.append((call.start, 1, number, call, -1))
        entries += [(tool.start, 2, number, tool, -1) for number, tool in enumerate(tools)]
        turn = self._responses[0]["turn"] if self._responses else self._last_turn
        for step, (_, _, _, item, own_turn) in enumerate(sorted(entries, key=lambda one: one[:3]), start=1):
            turn = turn if own_turn < 0 else own_turn
            self._positions[id(item)] = step, turn


def _align_outputs(responses: list[Message], main: Sequence[ModelCall]) -> dict[ModelCall, Message]:
    """Finds the message that each call's output became, from the last backwards."""
    found: dict[ModelCall, Message] = {}
    place = len(responses)
    for call in sorted(main, key=lambda call: call.place, reverse=True):
        for at in range(place - 1, max(-1, place - 1 - WINDOW), -1):
            if _is_output(call, responses[at]):
                found[call] = responses[at]
                place = at
                break
    return found


def _is_output(call: ModelCall, message: Message) -> bool:
    """True unless output and message differ. A call without captured content fits any message."""
    output = call.get_fact("output")
    if not output:
        return call.get_fact("input") is None
    asked = [asked.name for raw_message in output for asked in raw_message.calls]
    if asked:
        return asked[: len(message["tool_calls"])] == [ref["name"] for ref in message["tool_calls"]] != []
    texts = tuple(raw_message.content.strip() for raw_message in output if raw_message.content)
    return (message["content"] or "").strip().startswith(texts)
