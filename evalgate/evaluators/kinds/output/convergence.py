"""`convergence`: a number that is at its target, or closer to it than its previous value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from evalgate.declarations import Field, WithJsonSchema
from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.kinds.output.output_source import SourceField, reader, subject
from evalgate.evaluators.kinds.output.output_verdict import judging, verdict
from evalgate.evaluators.kinds.output.previous_value import previous_of
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.outputs import read_number, told

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

_PREVIOUS = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}], "default": None}


class Convergence(Evaluator):
    """The number is within `tolerance` of `target` (target), is the first or improved (progress); else stall.

    `previous` is its previous value: a number, an expression in `${}`, or, by default, the value in the
    baseline.
    """

    type: Literal["convergence"]
    target: float
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    direction: Literal["minimize", "maximize"]
    previous: Annotated[Any, WithJsonSchema(_PREVIOUS)] = None
    source: SourceField | None = None

    def label(self) -> str:
        """The check in words."""
        return f"{subject(self.source)} converges to {told(self.target)}"

    def compile(self) -> Check:
        """Returns the check; raises FieldProblemError if the source or `previous` is invalid."""
        about, upwards = subject(self.source), self.direction == "maximize"
        previous_in = previous_of(self.previous, self.name or self.label(), self.type)
        goal = f"target {told(self.target)}" + (f" ± {told(self.tolerance)}" if self.tolerance else "")

        def judge(text: str, trace: Trace) -> Finding:
            current = read_number(text)
            found = f"{about} is {told(current)}, {goal}"
            if round(abs(current - self.target) - self.tolerance, DIGITS) <= 0:
                return verdict("target", found, value=current)
            previous = previous_in(trace)
            if previous is None:
                return verdict("progress", f"{found}, no previous figure", value=current)
            moved = round(current - previous if upwards else previous - current, DIGITS)
            change = f"{found}, was {told(previous)}, {'higher' if upwards else 'lower'} is better"
            return verdict("progress" if moved > 0 else "stall", change, value=current, previous=previous)

        return judging(about, reader(self.source), judge)
