"""The order of a run's calls: as the model asked for them, but what was executed before another began comes first.

Calls that one answer asks for may run in any order. Those that ran at the same time keep the order in which they were
asked for, since nothing says which was first; so do those of which an execution, or its time, is not recorded.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.adapters.formats.spans.span import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.span import SpanNode
    from evalgate.adapters.formats.spans.timeline import Timeline
    from evalgate.models.trace.trace import ToolCall


class SpanToolCall(Struct, eq=False):
    """A tool call being merged; `node` is its execution span, `asked_by` the model call that requested it.

    One that is not claimed is older than that model call, which has it in its history.
    """

    call: ToolCall
    is_main: bool  # it is part of the conversation
    asked_by: ModelCall | None = None
    node: SpanNode | None = None
    is_claimed: bool = False


def number_calls(entries: Sequence[SpanToolCall], timeline: Timeline) -> list[ToolCall]:
    """Sorts calls by time, keeps the conversation's order, and sets index, step and turn."""
    ordered: list[tuple[int, bool, int, SpanToolCall]] = []
    times: dict[int, int] = {}
    for number, entry in enumerate(_sort_by_execution(entries)):
        chain = 0 if entry.is_main else _name_answer(entry)
        start = _time(entry)
        if entry.is_main or start != UNKNOWN:
            start = times.get(chain, -1) if start == UNKNOWN else max(times.get(chain, -1), start)
            times[chain] = start
        ordered.append((start, not entry.is_main, number, entry))
    found = []
    for index, (_, _, _, entry) in enumerate(sorted(ordered, key=lambda one: one[:3])):
        call = entry.call
        call["index"] = index
        call["step"], call["turn"] = _position_of(entry, timeline)
        found.append(call)
    return found


def _sort_by_execution(entries: Sequence[SpanToolCall]) -> Iterator[SpanToolCall]:
    """The calls of each answer in the order in which they ran, in the place of the first of them."""
    answers: dict[int, list[SpanToolCall]] = {}
    for entry in entries:
        answers.setdefault(_name_answer(entry), []).append(entry)
    for asked in answers.values():
        yield from _order_executed(asked) if len(asked) > 1 else asked


def _name_answer(entry: SpanToolCall) -> int:
    """Equal for calls that one answer asked for: its step in the conversation, else its model call; never the same."""
    if entry.is_main:
        return -entry.call["step"]
    return id(entry.asked_by if entry.is_claimed else entry)


def _order_executed(asked: Sequence[SpanToolCall]) -> Iterator[SpanToolCall]:
    """Each call once no other that is left ended before it began: the first of those in the order asked for."""
    times = [_interval(entry) for entry in asked]
    ends = [(end, at) for at, (_, end) in enumerate(times)]
    waiting = [(start, at) for at, (start, _) in enumerate(times)]
    heapify(ends)
    heapify(waiting)
    ready: list[int] = []
    done: set[int] = set()
    while ends:
        while waiting and waiting[0][0] < ends[0][0]:
            heappush(ready, heappop(waiting)[1])
        at = heappop(ready)
        done.add(at)
        yield asked[at]
        while ends and ends[0][1] in done:
            heappop(ends)


def _interval(entry: SpanToolCall) -> tuple[int, int]:
    """When the call began and ended, at least one nanosecond later; both of them open where it is unknown."""
    node = entry.node
    if node is None or node.span.start_ns is None:
        return -1, UNKNOWN
    return node.start, UNKNOWN if node.span.end_ns is None else max(node.end, node.start + 1)


def _time(entry: SpanToolCall) -> int:
    if entry.node is not None:
        return entry.node.start
    if entry.asked_by is None:
        return UNKNOWN
    return entry.asked_by.end if entry.is_claimed else entry.asked_by.start


def _position_of(entry: SpanToolCall, timeline: Timeline) -> tuple[int, int]:
    if entry.is_main:
        return timeline.position_of_response(entry.call["step"])
    if entry.asked_by is not None:
        return timeline.position_of_call(entry.asked_by)
    return timeline.position_of_tool(entry.node)
