"""`tool_latency_limit`: how long the calls of one tool may take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, Order
from evalgate.evaluators.core.evidence import FAILED, require_evidence
from evalgate.evaluators.kinds.calls.call_selection import CallFilter
from evalgate.evaluators.kinds.calls.tool_called import ToolName, describe_other_calls
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import format_distinct

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

Amount = Annotated[float, Field(ge=0)]


class ToolLatencyLimit(Evaluator):
    """Each call of `tool` took at most `max_seconds` s. Without a call or a known time: not_evaluable."""

    type: Literal["tool_latency_limit"]
    orders: ClassVar[dict[str, Order]] = {"max_seconds": "at_most"}
    tool: ToolName
    max_seconds: Amount

    def label(self) -> str:
        """The check in words."""
        return f"latency of {self.tool} <= {self.max_seconds:g} s"

    def compile(self) -> Check:
        """Returns a check of the slowest call."""
        target, limit = CallFilter(self.tool), self.max_seconds

        def check(trace: Trace) -> Finding:
            calls = target.select(trace).matching
            if not calls:
                return Finding("not_evaluable", f"{target} was not called: {describe_other_calls(trace)}")
            durations = [
                (call["duration_ms"] / 1000, number) for number, call in calls if call["duration_ms"] is not None
            ]
            slowest, number = max(durations, default=(0.0, 0))
            found, most = format_distinct(slowest, limit)
            reason = f"slowest call of {target} {found} s (call {number}), limit {most}"
            if round(slowest - limit, DIGITS) > 0:
                return Finding("failed", reason)
            unknown = len(calls) - len(durations)
            if unknown:
                return Finding("not_evaluable", f"latency unknown for {unknown:,} of {len(calls):,} calls of {target}")
            return Finding("passed", reason)

        return require_evidence(check, ("calls", "times"), FAILED)
