"""`output_numeric`: compares a number that is the output with a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.operators import sign
from evalgate.evaluators.kinds.output.output_source import SourceField, describe_source
from evalgate.evaluators.kinds.output.output_verdict import build_check, build_finding
from evalgate.evaluators.kinds.output.relations import COMPARE, Relation
from evalgate.measures.values.outputs import format_number, read_number

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
        return f"{describe_source(self.source)} {sign(self.operator)} {format_number(self.target)}"

    def compile(self) -> Check:
        """Returns the comparison; raises FieldProblemError if the source is invalid."""
        compare, target = COMPARE[self.operator], self.target
        source = describe_source(self.source)
        expected = f"expected {source} {sign(self.operator)} {format_number(self.target)}"

        def judge(text: str, _: Trace) -> Finding:
            value = read_number(text)
            if compare(value, target):
                return build_finding("success", f"{source} is {format_number(value)}", value=value)
            return build_finding("failure", f"{expected}, got {format_number(value)}", value=value)

        return build_check(self.source, judge)
