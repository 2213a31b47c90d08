"""`recorded_score`: a score that a benchmark, a judge or a person recorded; no model is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, Order
from evalgate.measures.values.json_values import format_distinct, show

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace


class RecordedScore(Evaluator):
    """The recorded score `name` is at least `min`; clamped to [0, 1], it is also the assertion's score.

    Of several values of one name, the one of the whole trace counts, else the lowest.
    """

    type: Literal["recorded_score"]
    orders: ClassVar[dict[str, Order]] = {"min": "at_least"}
    name: Annotated[str, Field(min_length=1, max_length=200)]
    min: float = 1.0

    def label(self) -> str:
        """The check in words."""
        return self.name

    def compile(self) -> Check:
        """Returns a check of the score of this name."""
        name, least = self.name, self.min

        def check(trace: Trace) -> Finding:
            value = trace.scores.get(name)
            if value is None:
                return Finding("not_evaluable", f"this trace has no numeric score {show(name)}")
            outcome: Outcome = "passed" if value >= least else "failed"
            found, needed = format_distinct(value, least)
            return Finding(outcome, f"{name} {found}, expected at least {needed}", score=max(0.0, min(1.0, value)))

        return check
