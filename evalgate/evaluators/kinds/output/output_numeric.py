"""`output_numeric`: compares a number that is the output with a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.operators import sign
from evalgate.evaluators.kinds.output.output_source import SourceField, reader, subject
from evalgate.evaluators.kinds.output.output_verdict import judging, verdict
from evalgate.evaluators.kinds.output.relations import COMPARE, Relation
from evalgate.measures.values.outputs import read_number, told

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


class OutputNumeric(Evaluator):
    """The output is a finite number that compares to `target` as `operator` demands; else an error."""

    type: Literal["output_numeric"]
    operator: Relation
    target: float
    source: SourceField | None = None

    def label(self) -> str:
        """Returns the check as a person would write it."""
        return f"{subject(self.source)} {sign(self.operator)} {told(self.target)}"

    def compile(self) -> Check:
        """Returns the comparison; raises FieldProblemError if the source is invalid."""
        compare, target = COMPARE[self.operator], self.target
        about, expected = subject(self.source), f"expected {sign(self.operator)} {told(self.target)}"

        def judge(text: str, _: Trace) -> Finding:
            value = read_number(text)
            if compare(value, target):
                return verdict("success", f"{about} is {told(value)}", value=value)
            return verdict("failure", f"{about} is {told(value)}, {expected}", value=value)

        return judging(about, reader(self.source), judge)
