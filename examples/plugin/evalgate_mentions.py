"""A plugin evaluator: the final answer gives the customer what a tool returned."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from evalgate.evaluators.base import Check, Evaluator, FieldProblemError, Finding

if TYPE_CHECKING:
    from evalgate.evaluators.base import Trace


class MentionsResult(Evaluator):
    """The answer contains the value of `field` in the last result of `tool`."""

    type: Literal["mentions_result"]
    tool: Annotated[str, Field(min_length=1)]
    field: str

    def label(self) -> str:
        """The label of the assertion in reports if the suite gives no name."""
        return f"answer mentions {self.field} of {self.tool}"

    def compile(self) -> Check:
        """Reads the settings once; the function it returns judges one trace at a time."""
        if not self.field.isidentifier():
            raise FieldProblemError("field", f"`field` is one name, not {self.field!r}", "for example refund_id")
        tool, field = self.tool, self.field

        def check(trace: Trace) -> Finding:
            results = [call["result"] for call in trace.agent_calls if call["name"] == tool]
            value = _fields(results[-1]).get(field) if results else None
            answer = trace.response["content"]
            if value is None or answer is None:
                return Finding("not_evaluable", f"no {field} in a result of {tool}, or no answer")
            if str(value) in answer:
                return Finding("passed", f"the answer mentions {value}")
            return Finding("failed", f"the answer does not mention {field} {value}", {"expected": value})

        return check


def _fields(result: Any) -> dict[str, Any]:
    """The result as an object: many traces keep results as text."""
    try:
        found = json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
