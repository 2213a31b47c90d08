"""`output_contains`: searches an output for a text or a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.output.output_source import SourceField, describe_source
from evalgate.evaluators.kinds.output.output_verdict import build_check, build_finding
from evalgate.measures.text.patterns import Pattern, PatternError, PatternFailedError
from evalgate.measures.values.json_values import shorten, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace.trace import Trace


class OutputContains(Evaluator):
    """The output contains the text `value`, or the regular expression `pattern` matches somewhere in it.

    A pattern that does not compile is searched for as plain text.
    """

    type: Literal["output_contains"]
    value: Annotated[str, Field(min_length=1)] | None = None
    pattern: Annotated[str, Field(min_length=1)] | None = None
    source: SourceField | None = None

    def label(self) -> str:
        """The check in words."""
        return f"{describe_source(self.source)} contains {self._requirement()}"

    def _requirement(self) -> str:
        return f"/{shorten(self.pattern, 60)}/" if self.pattern else show(self.value, 60)

    def compile(self) -> Check:
        """Validates that either `value` or `pattern` is given; raises FieldProblemError."""
        is_found_in, requirement, source = (self._build_search(), self._requirement(), describe_source(self.source))
        passed = build_finding("success", self.label())

        def judge(output: str, _: Trace) -> Finding:
            try:
                found = is_found_in(output)
            except PatternFailedError as error:
                return build_finding("error", f"{requirement}: {error}")
            if found:
                return passed
            return build_finding("failure", f"expected {source} to contain {requirement}, got {show(output, 120)}")

        return build_check(self.source, judge)

    def warning(self) -> str | None:
        """Returns the warning of `validate` about a pattern that is searched for as text."""
        if self.pattern is None:
            return None
        try:
            Pattern(self.pattern)
        except PatternError as error:
            return f"{error}, so it is searched for as plain text: {show(self.pattern, 60)}"
        return None

    def _build_search(self) -> Callable[[str], bool]:
        if (self.value is None) == (self.pattern is None):
            raise FieldProblemError("type", "output_contains needs either `value` (text) or `pattern` (regex)")
        if self.pattern is None:
            text = self.value or ""
            return lambda output: text in output
        pattern = self.pattern
        try:
            return Pattern(pattern).is_found_in
        except PatternError:
            return lambda output: pattern in output
