"""`trajectory_score`: how close the calls come to a reference, as a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, Order
from evalgate.evaluators.core.evidence import CALLS, PASSED, require_evidence
from evalgate.evaluators.kinds.calls.tool_called import ToolName, format_names
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.sequences.trajectory_metrics import METRICS
from evalgate.measures.values.json_values import format_distinct

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

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
    orders: ClassVar[dict[str, Order]] = {"min_score": "at_least"}
    metric: Literal["precision", "recall", "f1", "lcs", "exact", "in_order", "any_order"]
    reference: Annotated[list[ToolName], Field(min_length=1, max_length=MAX_REFERENCE)]
    min_score: Annotated[float, Field(ge=0, le=1)] = 1.0

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
            calls = f"called {format_names(called)}" if called else "no tool calls"
            reason = f"{metric} {found}, expected at least {needed}; {calls}, reference {format_names(reference)}"
            return Finding(outcome, reason, {metric: score}, score)

        return require_evidence(check, CALLS, PASSED if metric in _GROWING else ())
