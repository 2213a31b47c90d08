"""`finish_reason`: why a run may end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.measures.values.json_values import shorten, show

if TYPE_CHECKING:
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

Reason = Annotated[str, Field(min_length=1, max_length=200)]


class FinishReason(Evaluator):
    """The run ended for one of the reasons in `in`; an unknown reason is not_evaluable."""

    type: Literal["finish_reason"]
    allowed: Annotated[list[Reason], Field(min_length=1, alias="in")]

    def label(self) -> str:
        """The check in words."""
        return f"finish reason in {show(self.allowed, 60)}"

    def compile(self) -> Check:
        """Returns a lookup of the reason."""
        expected = show(self.allowed, 60)
        unknown = Finding("not_evaluable", "finish reason unknown")

        def build_finding(outcome: Outcome, reason: str) -> Finding:
            return Finding(outcome, f"finish reason {shorten(reason, 60)}, expected one of {expected}")

        passed = {reason: build_finding("passed", reason) for reason in self.allowed}

        def check(trace: Trace) -> Finding:
            reason = trace.finish_reason or trace.response["finish_reason"]
            if reason is None:
                return unknown
            return passed.get(reason) or build_finding("failed", reason)

        return check
