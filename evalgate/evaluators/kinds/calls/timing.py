"""Checks of the times that calls of a scheduling tool ask for: any time, staggered, recurring."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.evidence import ARGUMENTS, require_evidence
from evalgate.evaluators.kinds.calls.call_selection import CallFilter
from evalgate.evaluators.kinds.calls.tool_called import ToolName, describe_other_calls
from evalgate.measures.schedules import is_amount, is_moment, is_whole, looks_like_cron, strictly_increasing
from evalgate.measures.sequences.trajectory_metrics import json_key
from evalgate.measures.values.json_values import show
from evalgate.models.run.run import Outcome
from evalgate.models.trace.trace_view import is_captured

if TYPE_CHECKING:
    from evalgate.evaluators.kinds.calls.call_selection import NumberedCall
    from evalgate.models.trace.trace import Trace

Argument = Annotated[str, Field(min_length=1, max_length=512)]


class Timing(Evaluator):
    """Settings that the timing checks share: which calls they judge, and the names of arguments.

    Without such a call: failed. If the result depends on arguments that were not captured: not_evaluable.
    """

    tool: ToolName
    action: str | None = None
    action_argument: Argument = "action"
    delay_argument: Argument = "delay_seconds"
    when_argument: Argument = "when"
    recurring_argument: Argument = "recurring"
    final_outcome: ClassVar[Outcome | None] = None
    """The outcome that one call decides, however many others there are."""

    def label(self) -> str:
        """The check in words."""
        return f"{self._target()}: {self.type.replace('_', ' ')}"

    def _target(self) -> CallFilter:
        return CallFilter(self.tool, self.action, self.action_argument)

    def compile(self) -> Check:
        """Returns a check of the arguments of the calls."""
        target = self._target()

        def check(trace: Trace) -> Finding:
            matching, possible = target.select(trace)
            if not matching and not possible:
                return Finding("failed", f"expected a call of {target}, {describe_other_calls(trace)}")
            captured_calls = [each for each in matching if is_captured(each[1])]
            return self.judge(captured_calls, len(matching) + len(possible) - len(captured_calls))

        def is_decided(found: Finding, trace: Trace) -> bool:
            return found.outcome == self.final_outcome and bool(target.select(trace).matching)

        return require_evidence(check, ARGUMENTS, is_decided=is_decided)

    @abstractmethod
    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Judges the calls whose arguments are known; `unknown` is the number of the others."""


def _get_argument(call: NumberedCall, name: str) -> Any:
    arguments = call[1]["arguments"]
    return arguments.get(name) if isinstance(arguments, dict) else None


def _describe_call(call: NumberedCall) -> str:
    recorded = call[1]["arguments"]
    return f"call {call[0]} {show(call[1]['arguments_raw'] if recorded is None else recorded, 100)}"


def _build_unknown(unknown: int) -> Finding:
    return Finding("not_evaluable", f"the arguments of {unknown:,} of the calls were not captured")


class HasTiming(Timing):
    """Each call has a number of seconds as its delay, or a time as its `when` argument."""

    type: Literal["has_timing"]
    final_outcome = "failed"

    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Fails if one call has no time."""
        delay, when = self.delay_argument, self.when_argument
        for call in calls:
            if not is_amount(_get_argument(call, delay)) and not is_moment(_get_argument(call, when)):
                return Finding(
                    "failed", f"expected a number as `{delay}` or a time as `{when}`, got {_describe_call(call)}"
                )
        words = "call has" if len(calls) == 1 else "calls have"
        return _build_unknown(unknown) if unknown else Finding("passed", f"{len(calls):,} {words} a time")


class StaggeredTiming(Timing):
    """The calls are spread over time.

    If any call has a delay, all must have one, each longer than the one before. Else, if all `when` arguments
    are whole numbers, these must grow. Else at least two `when` arguments must differ.
    """

    type: Literal["staggered_timing"]

    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Picks one of the three rules; that depends on all calls, so none may be unknown."""
        if unknown:
            return _build_unknown(unknown)
        delays = [_get_argument(call, self.delay_argument) for call in calls]
        if any(delay is not None for delay in delays):
            for call, delay in zip(calls, delays, strict=True):
                if not is_amount(delay):
                    return Finding(
                        "failed",
                        f"expected a number as `{self.delay_argument}` in every call, got {_describe_call(call)}",
                    )
            return self._judge_growth(self.delay_argument, delays)
        moments = [_get_argument(call, self.when_argument) for call in calls]
        if all(map(is_whole, moments)):
            return self._judge_growth(self.when_argument, moments)
        different = len({json_key(moment) for moment in moments if is_moment(moment)})
        reason = (
            f"expected at least 2 different values of `{self.when_argument}`, got {different}: {show(moments, 120)}"
        )
        return Finding("passed" if different > 1 else "failed", reason)

    def _judge_growth(self, name: str, values: list[float]) -> Finding:
        if strictly_increasing(values):
            return Finding("passed", f"`{name}` grows from call to call: {show(values, 120)}")
        return Finding("failed", f"expected `{name}` to grow from call to call, got {show(values, 120)}")


class IsRecurring(Timing):
    """At least one call recurs: its `recurring` is true, or its `when` looks like a cron expression."""

    type: Literal["is_recurring"]
    final_outcome = "passed"

    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Passes if one call recurs."""
        recurring, when = self.recurring_argument, self.when_argument
        for call in calls:
            if _get_argument(call, recurring) is True or looks_like_cron(_get_argument(call, when)):
                return Finding("passed", f"{_describe_call(call)} recurs")
        if unknown:
            return _build_unknown(unknown)
        return Finding(
            "failed", f"expected `{recurring}: true` or a cron expression as `{when}`, got {_describe_call(calls[0])}"
        )
