"""`convergence`: a number that is at its target, or closer to it than its previous value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from evalgate.declarations import Field, WithJsonSchema
from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.kinds.output.output_source import SourceField, build_reader, describe_source
from evalgate.evaluators.kinds.output.output_verdict import build_check, build_finding
from evalgate.evaluators.kinds.output.previous_value import build_previous_reader
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.values.outputs import format_number, read_number

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
        return f"{describe_source(self.source)} converges to {format_number(self.target)}"

    def compile(self) -> Check:
        """Returns the check; raises FieldProblemError if the source or `previous` is invalid."""
        source, upwards = describe_source(self.source), self.direction == "maximize"
        read_previous = build_previous_reader(self.previous, self.name or self.label(), self.type)
        goal = f"target {format_number(self.target)}" + (
            f" ± {format_number(self.tolerance)}" if self.tolerance else ""
        )

        def judge(text: str, trace: Trace) -> Finding:
            current = read_number(text)
            found = f"{source} is {format_number(current)}, {goal}"
            if round(abs(current - self.target) - self.tolerance, DIGITS) <= 0:
                return build_finding("target", found, value=current)
            previous = read_previous(trace)
            if previous is None:
                return build_finding("progress", f"{found}, no previous figure", value=current)
            improvement = round(current - previous if upwards else previous - current, DIGITS)
            change = f"{found}, was {format_number(previous)}, {'higher' if upwards else 'lower'} is better"
            return build_finding(
                "progress" if improvement > 0 else "stall", change, value=current, previous=previous
            )

        return build_check(source, build_reader(self.source), judge)
