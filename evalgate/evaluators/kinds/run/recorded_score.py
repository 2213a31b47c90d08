"""Scores that a benchmark, a judge or a person left in the trace; no model is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from evalgate.declarations import Field
from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.measures.values.json_values import show, told_apart

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace


class RecordedScore(Evaluator):
    """The recorded score `name` is at least `min`; the assertion's own score is that figure within [0, 1].

    Of several values of one name the one of the whole trace counts, else the lowest.
    """

    type: Literal["recorded_score"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    min: float = 1.0

    def label(self) -> str:
        """The check in words."""
        return self.name

    def compile(self) -> Check:
        """A look-up by name."""
        name, least = self.name, self.min

        def check(trace: Trace) -> Finding:
            value = trace.scores.get(name)
            if value is None:
                return Finding("not_evaluable", f"no score {show(name)} with a number in this trace")
            outcome: Outcome = "passed" if value >= least else "failed"
            found, needed = told_apart(value, least)
            return Finding(outcome, f"{name} {found}, needs {needed}", score=max(0.0, min(1.0, value)))

        return check
