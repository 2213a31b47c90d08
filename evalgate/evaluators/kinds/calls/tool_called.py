"""`tool_called`, and texts about called tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.evidence import CALLS, PASSED, require_evidence
from evalgate.measures.text.globs import find_names
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import Trace

ToolName = Annotated[str, Field(min_length=1, max_length=512)]
MAX_LISTED = 12
"""Calls that a reason or evidence lists; the rest is counted."""


class ToolCalled(Evaluator):
    """The agent called `tool` at least once. `*` in its name matches any characters, other characters are literal."""

    type: Literal["tool_called"]
    tool: ToolName

    def label(self) -> str:
        """The check in words."""
        return f"tool {self.tool} called"

    def compile(self) -> Check:
        """Returns a check of the names."""
        tool, is_glob = self.tool, "*" in self.tool
        passed = Finding("passed", f"{tool} was called")

        def check(trace: Trace) -> Finding:
            if find_names(tool, trace.called) if is_glob else tool in trace.called:
                return passed
            return Finding("failed", f"expected a call of {tool}, {describe_other_calls(trace)}")

        return require_evidence(check, CALLS, PASSED)

    def describe_unwanted(self, trace: Trace) -> str:
        """Describes the calls that were made although the assertion is negated."""
        names = trace.called
        return f"expected no call of {self.tool}, got {sum(map(names.count, find_names(self.tool, names))):,}"


def format_names(names: Sequence[str]) -> str:
    """Formats names as a list; counts those beyond the first twelve."""
    head = ", ".join(shorten(name, 60) for name in names[:MAX_LISTED])
    return head if len(names) <= MAX_LISTED else f"{head} and {len(names) - MAX_LISTED} more"


def describe_other_calls(trace: Trace) -> str:
    """Describes which tools were called instead, for the end of a reason."""
    names = list(dict.fromkeys(trace.called))
    return f"got calls of {format_names(names)}" if names else "got no tool calls"
