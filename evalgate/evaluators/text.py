"""What the final answer says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.base import Check, Evaluator, Finding
from evalgate.evaluators.flaws import FlawedError
from evalgate.measures.json_values import shorten, show
from evalgate.measures.patterns import Pattern, PatternError, PatternFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.models.trace import Trace


class OutputContains(Evaluator):
    """The final answer contains the text `value`, or matches the regular expression `pattern` somewhere.

    A pattern that does not compile is looked for as plain text.
    """

    type: Literal["output_contains"]
    value: Annotated[str, Field(min_length=1)] | None = None
    pattern: Annotated[str, Field(min_length=1)] | None = None

    def label(self) -> str:
        """The check in words."""
        return f"answer contains {self._wanted()}"

    def _wanted(self) -> str:
        return f"/{shorten(self.pattern, 60)}/" if self.pattern else show(self.value, 60)

    def compile(self) -> Check:
        """Checks that exactly one of the two is given; raises FlawedError."""
        found_in, wanted = self._search(), self._wanted()
        passed = Finding("passed", self.label())

        def check(trace: Trace) -> Finding:
            answer = trace.response["content"]
            if answer is None:
                return Finding("not_evaluable", "the trace has no final answer")
            try:
                found = found_in(answer)
            except PatternFailedError as error:
                return Finding("error", f"{wanted}: {error}")
            if found:
                return passed
            return Finding("failed", f"no {wanted} in the answer {show(answer, 120)}")

        return check

    def warning(self) -> str | None:
        """What `validate` says about a pattern that is taken as plain text."""
        if self.pattern is None:
            return None
        try:
            Pattern(self.pattern)
        except PatternError as error:
            return f"{error}, so it is looked for as plain text: {show(self.pattern, 60)}"
        return None

    def _search(self) -> Callable[[str], bool]:
        if (self.value is None) == (self.pattern is None):
            raise FlawedError(
                "type", "output_contains takes `value` (text) or `pattern` (regex), one of the two"
            )
        if self.pattern is None:
            wanted = self.value or ""
            return lambda answer: wanted in answer
        pattern = self.pattern
        try:
            return Pattern(pattern).found_in
        except PatternError:
            return lambda answer: pattern in answer
