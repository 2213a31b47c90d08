"""Checks of all calls as one list: `trajectory_score`, how close it comes to a reference, and `no_loops`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import (
    ARGUMENTS,
    CALLS,
    PASSED,
    Check,
    Evaluator,
    Finding,
    Order,
    ToolName,
    require_evidence,
)
from evalgate.evaluators.kinds.calls.call_selection import TRAJECTORY_NAMES, format_names, mark_names, name_makers
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.sequences.trajectory_metrics import METRICS, Repeat, find_repeat, json_key
from evalgate.measures.values.json_values import format_distinct, mark_name, mark_value
from evalgate.models.trace.trace_view import is_captured
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import ToolCall, Trace

MAX_REFERENCE = 10_000
_GROWING = frozenset({"recall", "in_order", "any_order"})
"""Metrics that more calls never lower."""


class TrajectoryScore(Evaluator):
    """Compares the names of the agent's calls with `reference`; the value of `metric` is the score.

    With m = the sum over names of min(times called, times in the reference): precision = m / calls (0 without
    calls), recall = m / references, f1 = 2m / (calls + references); lcs = longest common subsequence over the
    longer of both; exact, in_order and any_order are 1 or 0: the same list, the reference as a subsequence,
    as a bag. Passes from `min_score`.
    """

    type: Literal["trajectory_score"]
    other_names = TRAJECTORY_NAMES
    is_graded = True
    version = 2  # `*` in the name of a tool matches any characters
    demands = ("reference",)
    orders: ClassVar[dict[str, Order]] = {"min_score": "at_least"}
    metric: Annotated[
        Literal["precision", "recall", "f1", "lcs", "exact", "in_order", "any_order"],
        described("How the calls are compared with the reference.", "f1"),
    ]
    reference: Annotated[
        list[ToolName],
        Field(min_length=1, max_length=MAX_REFERENCE),
        described("The expected names of tools, in order.", ["lookup_order", "issue_refund"]),
    ]
    min_score: Annotated[float, Field(ge=0, le=1), described("The score, 0 to 1, from which it passes.", 0.8)] = 1.0

    def label(self) -> str:
        """The check in words."""
        return f"{self.metric} of {format_names(self.reference)} >= {self.min_score:g}"

    def compile(self) -> Check:
        """Returns a check that computes the metric from both lists of names."""
        metric, measure = self.metric, METRICS[self.metric]
        reference, least = self.reference, self.min_score

        def check(trace: Trace) -> Finding:
            called = trace.called
            score = measure(reference, called)
            outcome: Outcome = "passed" if round(score - least, DIGITS) >= 0 else "failed"
            found, needed = format_distinct(score, least)
            calls = f"called {mark_names(called)}" if called else "no tool calls"
            reason = f"{metric} {found}, expected at least {needed}; {calls}, reference {mark_names(reference)}"
            return Finding(outcome, reason, {metric: score}, score)

        return require_evidence(check, CALLS, PASSED if metric in _GROWING else ())


MOST_REPEATS = 1_000


class NoLoops(Evaluator):
    """No call with the same arguments and no cycle of calls occurs more than `max_repeats` times in a row."""

    type: Literal["no_loops"]
    orders: ClassVar[dict[str, Order]] = {"max_repeats": "at_most"}
    max_repeats: Annotated[
        int, Field(ge=1, le=MOST_REPEATS), described("How many times in a row a call or a cycle of calls may occur.", 3)
    ] = 3
    words = "same call or cycle of calls in a row <= {max_repeats}"

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
        given = "" if arguments is None else f" with {mark_value(arguments)}"
        subject = f"{mark_name(block[0]['name'])}{given}"
    else:
        subject = f"the cycle {mark_names([call['name'] for call in block])}"
    last = loop.start + loop.length * loop.times
    place = f"calls {loop.start + 1} to {last}{name_makers([each['actor'] for each in calls[loop.start : last]])}"
    equal = f"equal {'call' if loop.length == 1 else 'cycle'}{'' if most == 1 else 's'}"
    return f"expected at most {most} {equal} in a row, got {loop.times:,} of {subject} ({place})"
