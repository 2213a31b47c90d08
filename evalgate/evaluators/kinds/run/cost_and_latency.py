"""`cost_limit` and `latency_limit`: what a run may cost and how long it may take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from evalgate.declarations import Field
from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.json_values import format_distinct

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace

Amount = Annotated[float, Field(ge=0)]

_NO_COST = Finding("not_evaluable", "cost unknown")
_NO_LATENCY = Finding("not_evaluable", "latency unknown")


def shared_pass(evaluator: Evaluator) -> Finding | None:
    """Returns one finding shared by all traces within a limit: their trials have the measured values.

    None if the check is negated: a trace within the limit then fails, and its reason needs the value.
    """
    return None if evaluator.negate else Finding("passed", evaluator.label())


def build_limit_judge(evaluator: Evaluator, limit: float, template: str) -> Callable[[float], Finding]:
    """Builds a judge of whether an amount is within the limit; `template` is filled with both."""
    pass_finding = shared_pass(evaluator)

    def judge(amount: float) -> Finding:
        is_within = amount <= limit or round(amount - limit, DIGITS) <= 0
        if is_within and pass_finding is not None:
            return pass_finding
        found, most = format_distinct(amount, limit)
        return Finding("passed" if is_within else "failed", template.format(found, most))

    return judge


class CostLimit(Evaluator):
    """The agent's own model calls cost at most `max_usd` US dollars. Unknown cost is not_evaluable.

    Uses the recorded cost; without it, tokens times prices if both are known.
    """

    type: Literal["cost_limit"]
    max_usd: Amount

    def label(self) -> str:
        """The check in words."""
        return f"cost <= {self.max_usd:g} USD"

    def compile(self) -> Check:
        """Returns a comparison that NaN does not pass."""
        judge = build_limit_judge(self, self.max_usd, "cost {} USD, limit {}")

        def check(trace: Trace) -> Finding:
            cost = trace.cost["usd"]
            if cost is not None:
                return judge(cost)
            note = trace.cost.get("note")
            return Finding("not_evaluable", f"cost unknown: {note}") if note else _NO_COST

        return check


class LatencyLimit(Evaluator):
    """The whole run took at most `max_seconds` seconds. Unknown latency is not_evaluable."""

    type: Literal["latency_limit"]
    max_seconds: Amount

    def label(self) -> str:
        """The check in words."""
        return f"latency <= {self.max_seconds:g} s"

    def compile(self) -> Check:
        """Returns a comparison that NaN does not pass."""
        judge = build_limit_judge(self, self.max_seconds, "latency {} s, limit {}")

        def check(trace: Trace) -> Finding:
            total_ms = trace.latency["total_ms"]
            return _NO_LATENCY if total_ms is None else judge(total_ms / 1000)

        return check
