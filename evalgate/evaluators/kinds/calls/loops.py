"""`no_loops`: the agent does not repeat the same calls over and over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, Order
from evalgate.evaluators.core.evidence import ARGUMENTS, require_evidence
from evalgate.evaluators.kinds.calls.tool_called import format_names
from evalgate.measures.sequences.trajectory_metrics import Repeat, find_repeat, json_key
from evalgate.measures.values.json_values import shorten, show
from evalgate.models.trace.trace_view import is_captured

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from evalgate.models.trace.trace import ToolCall, Trace

MOST_REPEATS = 1_000


class NoLoops(Evaluator):
    """No call with the same arguments and no cycle of calls occurs more than `max_repeats` times in a row."""

    type: Literal["no_loops"]
    orders: ClassVar[dict[str, Order]] = {"max_repeats": "at_most"}
    max_repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 3

    def label(self) -> str:
        """The check in words."""
        return f"no loop of more than {self.max_repeats} repeats"

    def compile(self) -> Check:
        """Returns a search for repeated blocks; calls without captured arguments may equal any call."""
        most = self.max_repeats

        def check(trace: Trace) -> Finding:
            calls = trace.agent_calls
            loop = find_repeat([_call_key(index, call) for index, call in enumerate(calls)], most)
            if loop is not None:
                return Finding("failed", _describe_loop(loop, calls, most))
            if not all(map(is_captured, calls)) and find_repeat([call["name"] for call in calls], most):
                return Finding("not_evaluable", "the same tools repeat, but their arguments were not captured")
            return Finding("passed", f"nothing repeats more than {most} times in a row")

        return require_evidence(
            check, ARGUMENTS, is_decided=lambda found, trace: found.outcome == "failed" and "calls" not in trace.gaps
        )


def _call_key(index: int, call: ToolCall) -> Hashable:
    """Returns a key shared by calls with equal tool and arguments; unique if arguments are unknown."""
    if not is_captured(call):
        return index
    if call["arguments"] is None:
        return call["name"], None, call["arguments_raw"]
    return call["name"], json_key(call["arguments"])


def _describe_loop(loop: Repeat, calls: Sequence[ToolCall], most: int) -> str:
    block = calls[loop.start : loop.start + loop.length]
    if loop.length == 1:
        arguments = block[0]["arguments"]
        given = "" if arguments is None else f" {show(arguments, 80)}"
        subject = f"{shorten(block[0]['name'], 60)}{given}"
    else:
        subject = f"the cycle {format_names([call['name'] for call in block])}"
    last = loop.start + loop.length * loop.times
    return (
        f"expected at most {most} repeats in a row, got {loop.times:,} of {subject} (calls {loop.start + 1} to {last})"
    )
