"""What a run may cost and how long it may take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.base import Check, Evaluator, Finding
from evalgate.measures.json_values import told_apart
from evalgate.measures.means import DIGITS

if TYPE_CHECKING:
    from evalgate.models.run import Outcome
    from evalgate.models.trace import Trace

Amount = Annotated[float, Field(ge=0)]


class CostLimit(Evaluator):
    """The agent's own model calls cost at most `max_usd` US dollars. Unknown cost is not_evaluable.

    Recorded cost counts; without it tokens times prices, where both are known.
    """

    type: Literal["cost_limit"]
    max_usd: Amount

    def label(self) -> str:
        """The check in words."""
        return f"cost <= {self.max_usd:g} USD"

    def compile(self) -> Check:
        """A comparison that NaN can't pass."""
        limit = self.max_usd

        def check(trace: Trace) -> Finding:
            cost = trace.cost["usd"]
            if cost is None:
                note = trace.cost.get("note")
                return Finding("not_evaluable", f"cost unknown: {note}" if note else "cost unknown")
            outcome: Outcome = "passed" if round(cost - limit, DIGITS) <= 0 else "failed"
            found, most = told_apart(cost, limit)
            return Finding(outcome, f"cost {found} USD, limit {most}")

        return check


class LatencyLimit(Evaluator):
    """The whole run took at most `max_seconds` seconds. Unknown latency is not_evaluable."""

    type: Literal["latency_limit"]
    max_seconds: Amount

    def label(self) -> str:
        """The check in words."""
        return f"latency <= {self.max_seconds:g} s"

    def compile(self) -> Check:
        """A comparison that NaN can't pass."""
        limit = self.max_seconds

        def check(trace: Trace) -> Finding:
            total_ms = trace.latency["total_ms"]
            if total_ms is None:
                return Finding("not_evaluable", "latency unknown")
            seconds = total_ms / 1000
            outcome: Outcome = "passed" if round(seconds - limit, DIGITS) <= 0 else "failed"
            found, most = told_apart(seconds, limit)
            return Finding(outcome, f"latency {found} s, limit {most}")

        return check
