"""Checks of how many calls an agent makes, of which tools, and how many of them fail."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Order
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.calls.tool_called import ToolName, format_names
from evalgate.evaluators.kinds.calls.tool_rules import (
    build_allowed_rule,
    build_count_rule,
    build_error_rule,
    build_forbidden_rule,
    combine_rules,
)

Count = Annotated[int, Field(ge=0)]
ToolNames = Annotated[list[ToolName], Field(min_length=1)]


class ToolCalls(Evaluator):
    """Counts calls of `tool`, or of all tools if it is not given; every given rule must hold.

    `*` in the name of a tool matches any characters.
    """

    type: Literal["tool_calls"]
    orders: ClassVar[dict[str, Order]] = {
        "min": "at_least",
        "max": "at_most",
        "max_tool_calls": "at_most",
        "max_tool_errors": "at_most",
    }
    tool: ToolName | None = None
    min: Count | None = None
    max: Count | None = None
    exactly: Count | None = None
    forbidden_tools: ToolNames | None = None
    allowed_tools: list[ToolName] | None = None
    max_tool_calls: Count | None = None
    max_tool_errors: Count | None = None

    def label(self) -> str:
        """The check in words."""
        subject = f"calls of {self.tool}" if self.tool else "tool calls"
        bounds = [
            f"{word} {bound}"
            for word, bound in (("exactly", self.exactly), ("at least", self.min), ("at most", self.max))
            if bound is not None
        ]
        return f"{subject}: {', '.join(bounds)}" if bounds else f"{subject} within their rules"

    def compile(self) -> Check:
        """Validates that there is a rule and that the rules agree; raises FieldProblemError."""
        self._refuse_contradictions()
        least, most = (self.min, self.max) if self.exactly is None else (self.exactly, self.exactly)
        rules: list[Check] = []
        if least is not None or most is not None:
            rules.append(build_count_rule(self.tool, least or 0, most))
        if self.max_tool_calls is not None:
            rules.append(build_count_rule(None, 0, self.max_tool_calls))
        if self.forbidden_tools is not None:
            rules.append(build_forbidden_rule(self.forbidden_tools))
        if self.allowed_tools is not None:
            rules.append(build_allowed_rule(self.allowed_tools))
        if self.max_tool_errors is not None:
            rules.append(build_error_rule(self.max_tool_errors))
        if not rules:
            raise FieldProblemError("type", "tool_calls checks nothing", "set `min`, `max`, `exactly` or another rule")
        return rules[0] if len(rules) == 1 else combine_rules(rules)

    def _refuse_contradictions(self) -> None:
        least, most, exactly = self.min, self.max, self.exactly
        if exactly is not None and (least is not None or most is not None):
            raise FieldProblemError(
                "exactly", "`exactly` can't be combined with `min` or `max`", "remove `min` and `max`"
            )
        if least is not None and most is not None and least > most:
            raise FieldProblemError("min", f"`min` {least} is greater than `max` {most}")
        if least == 0 and most is None:
            raise FieldProblemError("min", "`min: 0` checks nothing", "`exactly: 0` means no call")
        if self.tool is not None and least is None and most is None and exactly is None:
            raise FieldProblemError("tool", "`tool` needs `min`, `max` or `exactly`")


class ForbiddenTools(Evaluator):
    """None of `tools` is called; `*` in a name matches any characters."""

    type: Literal["forbidden_tools"]
    tools: ToolNames

    def label(self) -> str:
        """The check in words."""
        return f"forbidden tools: {format_names(self.tools)}"

    def compile(self) -> Check:
        """Returns a check of the names."""
        return build_forbidden_rule(self.tools)


class AllowedTools(Evaluator):
    """Only `tools` are called; `*` in a name matches any characters, an empty list allows no tool."""

    type: Literal["allowed_tools"]
    tools: list[ToolName]

    def label(self) -> str:
        """The check in words."""
        return f"allowed tools: {format_names(self.tools)}" if self.tools else "no tool call"

    def compile(self) -> Check:
        """Returns a check of the names."""
        return build_allowed_rule(self.tools)


class MaxToolCalls(Evaluator):
    """The agent makes at most `max` tool calls in total."""

    type: Literal["max_tool_calls"]
    orders: ClassVar[dict[str, Order]] = {"max": "at_most"}
    max: Count

    def label(self) -> str:
        """The check in words."""
        return f"tool calls <= {self.max}"

    def compile(self) -> Check:
        """Returns a check of the number of calls."""
        return build_count_rule(None, 0, self.max)


class MaxToolErrors(Evaluator):
    """At most `max` of the agent's tool calls end in an error."""

    type: Literal["max_tool_errors"]
    orders: ClassVar[dict[str, Order]] = {"max": "at_most"}
    max: Count

    def label(self) -> str:
        """The check in words."""
        return f"tool errors <= {self.max}"

    def compile(self) -> Check:
        """Returns a check of the number of errors; calls without a recorded result may have failed."""
        return build_error_rule(self.max)
