"""`expected_tool`, `no_tool`, `no_run_code`: a tool was called often enough, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.core.evaluator import MAX_TOOLS, Check, Evaluator, Finding, Order
from evalgate.evaluators.core.evidence import ARGUMENTS, CALLS, FAILED, PASSED, require_evidence
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.calls.call_selection import CallFilter, format_calls, format_times
from evalgate.evaluators.kinds.calls.tool_called import ToolName, format_names
from evalgate.evaluators.kinds.calls.tool_rules import build_count_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import EvidenceKind, Trace


def _wrap_in_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


ToolNames = Annotated[
    list[ToolName],
    BeforeValidator(_wrap_in_list, json_schema_input_type=ToolName | list[ToolName]),
    Field(min_length=1, max_length=MAX_TOOLS),
]
Argument = Annotated[str, Field(min_length=1, max_length=512)]


def _build_evidence(calls: int, expected: int) -> dict[str, int]:
    return {"calls": calls, "expected_calls": expected}


def _evidence(target: CallFilter) -> tuple[EvidenceKind, ...]:
    return CALLS if target.action is None else ARGUMENTS


def _require_calls(target: CallFilter, least: int) -> Check:
    def check(trace: Trace) -> Finding:
        matching, possible = target.select(trace)
        reason = f"expected at least {format_calls(least, target)}, got {len(matching):,}"
        evidence = _build_evidence(len(matching), least)
        if len(matching) >= least:
            return Finding("passed", reason, evidence)
        if len(matching) + len(possible) >= least:
            return Finding("not_evaluable", f"{reason}; the arguments of {len(possible):,} more were not captured")
        if matching:
            return Finding("failed", reason, evidence)
        names = list(dict.fromkeys(trace.called))
        others = f"other calls: {format_names(names)}" if names else "no tool calls"
        return Finding("failed", f"{reason} ({others})", evidence)

    return require_evidence(check, _evidence(target), PASSED)


def _forbid_calls(target: CallFilter) -> Check:
    def check(trace: Trace) -> Finding:
        calls, possible = target.select(trace)
        if calls:
            number = calls[0][0]
            return Finding("failed", f"expected no call of {target}, got {len(calls):,} (the first is call {number})")
        if possible:
            return Finding("not_evaluable", f"{target} may have been called: its arguments were not captured")
        return Finding("passed", f"{target} was not called")

    return require_evidence(check, _evidence(target), FAILED)


class ExpectedTool(Evaluator):
    """The tool `expected_tool` (or `tool`) is called at least `min_calls` times.

    `expected_tool: null` is the negative scenario: no call of `tool` (one or several), or of any tool if `tool` is
    not given. With `action`, only calls whose argument `action_argument` has this value count.
    """

    type: Literal["expected_tool"]
    orders: ClassVar[dict[str, Order]] = {"min_calls": "at_least"}
    expected_tool: ToolName | None = None
    tool: ToolNames | None = None
    min_calls: Annotated[int, Field(ge=0)] | None = None
    action: str | None = None
    action_argument: Argument = "action"

    def label(self) -> str:
        """The check in words."""
        if self._is_negative():
            return f"no call of {self._select_calls(self.tool)}" if self.tool else "no tool call"
        target = self._select_calls([self.expected_tool] if self.expected_tool else self.tool or [""])
        least = 1 if self.min_calls is None else self.min_calls
        return f"{target} called" if least == 1 else f"{target} called at least {format_times(least)}"

    def _is_negative(self) -> bool:
        return self.expected_tool is None and "expected_tool" in self.model_fields_set

    def compile(self) -> Check:
        """Validates that the fields agree; raises FieldProblemError."""
        if self._is_negative():
            return self._compile_negative()
        tools = self.tool if self.expected_tool is None else [self.expected_tool]
        if tools is None:
            raise FieldProblemError("type", "expected_tool needs a tool", "`expected_tool: null` means no call")
        if self.tool not in (None, tools):
            raise FieldProblemError("tool", "`tool` and `expected_tool` mean the same tool", "remove one of them")
        if len(tools) > 1:
            raise FieldProblemError("tool", "several tools can only be forbidden", "add `expected_tool: null`")
        if self.min_calls == 0:
            raise FieldProblemError("min_calls", "`min_calls: 0` checks nothing", "`expected_tool: null` means no call")
        return _require_calls(self._select_calls(tools), self.min_calls or 1)

    def _select_calls(self, tools: Sequence[str]) -> CallFilter:
        return CallFilter(tuple(tools), self.action, self.action_argument)

    def _compile_negative(self) -> Check:
        if self.min_calls:
            raise FieldProblemError("min_calls", "if no tool is expected, `min_calls` must be 0")
        if self.tool is not None:
            return _forbid_calls(self._select_calls(self.tool))
        if self.action is not None:
            raise FieldProblemError("action", "`action` needs `tool`: the tool that has this action")
        return build_count_rule(None, 0, 0)


class NoTool(Evaluator):
    """`tool` is not called; with `action`, not with this action."""

    type: Literal["no_tool"]
    tool: ToolName
    action: str | None = None
    action_argument: Argument = "action"

    def label(self) -> str:
        """The check in words."""
        return f"no call of {CallFilter(self.tool, self.action, self.action_argument)}"

    def compile(self) -> Check:
        """Returns a check of the calls."""
        return _forbid_calls(CallFilter(self.tool, self.action, self.action_argument))


class NoRunCode(Evaluator):
    """Another name of `no_tool`, whose `tool` is `run_code` by default."""

    type: Literal["no_run_code"]
    tool: ToolName = "run_code"

    def label(self) -> str:
        """The check in words."""
        return f"no call of {self.tool}"

    def compile(self) -> Check:
        """Returns a check of the calls."""
        return _forbid_calls(CallFilter(self.tool))
