"""`output_json`: compares a value within a JSON output with a target."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.operators import sign
from evalgate.evaluators.kinds.output.output_source import SourceField, describe_source
from evalgate.evaluators.kinds.output.output_verdict import build_check, build_finding
from evalgate.evaluators.kinds.output.relations import COMPARE, Relation
from evalgate.measures.values.json_values import json_equal, shorten, show, show_typed
from evalgate.measures.values.outputs import OutputError, PathError, look_up, parse_path, read_json

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


class OutputJson(Evaluator):
    """The value at `path` (`.summary.failed`, `.items.0`) compares to `target` as `operator` demands.

    Only numbers have an order; other values are equal or not. Invalid JSON, a missing path, and an order
    between other values are errors.
    """

    type: Literal["output_json"]
    path: str
    operator: Relation
    target: Any
    source: SourceField | None = None

    def label(self) -> str:
        """Returns the check as a person would write it."""
        path_text = shorten(self.path if self.path[:1] == "." else f".{self.path}", 60)
        where = "" if self.source is None else f"{describe_source(self.source)} "
        return f"{where}{path_text} {sign(self.operator)} {show(self.target, 40)}"

    def warning(self) -> str | None:
        """Returns the warning of `validate` about an order that no value can have with the target."""
        if self.operator in ("eq", "ne") or _is_number(self.target):
            return None
        return f"`{self.operator}` is an error on every trace, since {show(self.target, 40)} is not a number"

    def compile(self) -> Check:
        """Validates path and target; raises FieldProblemError."""
        if isinstance(self.target, float) and not isfinite(self.target):
            raise FieldProblemError("target", "`target` must be a finite number")
        try:
            steps = parse_path(self.path)
        except PathError as error:
            raise FieldProblemError("path", f"invalid path: {error}: {shorten(self.path, 60)}") from None
        path_text = f".{shorten('.'.join(steps), 60)}"

        def judge(text: str, _: Trace) -> Finding:
            value = look_up(read_json(text), steps)
            evidence = {"value": value if _is_number(value) else show(value)}
            if self._holds(value):
                return build_finding("success", f"{path_text} is {show(value)}", **evidence)
            expected = f"expected {path_text} {sign(self.operator)} {show(self.target)}"
            return build_finding("failure", f"{expected}, got {show(value)}", **evidence)

        return build_check(self.source, judge)

    def _holds(self, value: Any) -> bool:
        if _is_number(value) and _is_number(self.target):
            return COMPARE[self.operator](value, self.target)
        if self.operator in ("eq", "ne"):
            return json_equal(value, self.target) is (self.operator == "eq")
        raise OutputError(
            f"`{self.operator}` compares two numbers, not {show_typed(value, 40)} and {show_typed(self.target, 40)}"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
