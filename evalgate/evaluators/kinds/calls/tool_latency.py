"""`tool_latency_limit`: how long the calls of one tool may take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from evalgate.declarations import Field
from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.kinds.calls.call_selection import CallFilter
from evalgate.evaluators.kinds.calls.tool_called import ToolName, called_instead
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import told_apart

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

Amount = Annotated[float, Field(ge=0)]


class ToolLatencyLimit(Evaluator):
    """Each call of `tool` took at most `max_seconds` s. Without a call or a known time: not_evaluable."""

    type: Literal["tool_latency_limit"]
    tool: ToolName
    max_seconds: Amount

    def label(self) -> str:
        """The check in words."""
        return f"latency of {self.tool} <= {self.max_seconds:g} s"

    def compile(self) -> Check:
        """Returns a check of the slowest call."""
        choice, limit = CallFilter(self.tool), self.max_seconds

        def check(trace: Trace) -> Finding:
            calls = choice.of(trace).sure
            if not calls:
                return Finding("not_evaluable", f"{choice} was not called{called_instead(trace)}")
            known = [
                (call["duration_ms"] / 1000, number)
                for number, call in calls
                if call["duration_ms"] is not None
            ]
            slowest, number = max(known, default=(0.0, 0))
            found, most = told_apart(slowest, limit)
            told = f"slowest call of {choice} {found} s (call {number}), limit {most}"
            if round(slowest - limit, DIGITS) > 0:
                return Finding("failed", told)
            unknown = len(calls) - len(known)
            if unknown:
                return Finding(
                    "not_evaluable", f"latency unknown of {unknown:,} of {len(calls):,} calls of {choice}"
                )
            return Finding("passed", told)

        return check
