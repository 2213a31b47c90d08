"""Checks of scheduling: whether a tool was called often enough, or not at all, and the times that its calls ask for."""

from __future__ import annotations

import re
from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import (
    A_TOOL,
    ARGUMENTS,
    CALLS,
    FAILED,
    PASSED,
    Check,
    Evaluator,
    Finding,
    NamedTool,
    NotMeant,
    Order,
    ToolName,
    ToolNames,
    UnseenFields,
    require_evidence,
)
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.calls.call_selection import (
    CallFilter,
    Denial,
    describe_other_calls,
    describe_unwanted,
    format_calls,
    format_times,
    mark_names,
    name_makers,
    show_denied,
    suggest_name,
)
from evalgate.evaluators.kinds.calls.tool_counts import build_count_rule
from evalgate.measures.sequences.trajectory_metrics import json_key
from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import is_number, mark_name, mark_value
from evalgate.models.run.run import Outcome
from evalgate.models.trace.trace_view import is_captured
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.evaluators.kinds.calls.call_selection import DeniedCall, NumberedCall
    from evalgate.models.trace.trace import EvidenceKind, Trace

Argument = Annotated[str, Field(min_length=1, max_length=512)]
Action = Annotated[str | None, described("Only calls whose action has this value count.", "create")]
ActionArgument = Annotated[Argument, described("The argument that holds the action.", "action")]


def _build_evidence(calls: int, expected: int) -> dict[str, int]:
    return {"calls": calls, "expected_calls": expected}


def _evidence(target: CallFilter) -> tuple[EvidenceKind, ...]:
    return CALLS if target.action is None else ARGUMENTS


def _require_calls(target: CallFilter, least: int) -> Check:
    def check(trace: Trace) -> Finding:
        matching, possible = target.select(trace)
        reason = f"expected at least {format_calls(least, target.mark())}, got {len(matching):,}"
        evidence = _build_evidence(len(matching), least)
        if len(matching) >= least:
            return Finding("passed", reason, evidence)
        if len(matching) + len(possible) >= least:
            return Finding("not_evaluable", f"{reason}; the arguments of {len(possible):,} more were not captured")
        if matching:
            return Finding("failed", reason, evidence)
        names = list(dict.fromkeys(trace.called))
        others = f"other calls: {mark_names(names)}" if names else "no tool calls"
        return Finding("failed", f"{reason} ({others}){suggest_name(target.patterns, names)}", evidence)

    return require_evidence(check, _evidence(target), PASSED)


def _forbid_calls(target: CallFilter, not_meant: Sequence[str] | None) -> Check:
    denial = Denial(target.patterns, tuple(not_meant or ()))

    def check(trace: Trace) -> Finding:
        calls = denial.list_calls(trace)
        found = [each for each in calls if target.has_action(trace.agent_calls[each.number - 1])]
        possible = [each for each in calls if target.may_have_action(trace.agent_calls[each.number - 1])]
        if found:
            return Finding("failed", _describe_denied(target, found))
        if possible:
            return Finding("not_evaluable", f"{target.mark()} may have been called: its arguments were not captured")
        return Finding("passed", f"{target.mark()} was not called")

    return require_evidence(check, _evidence(target), FAILED)


def _describe_denied(target: CallFilter, calls: Sequence[DeniedCall]) -> str:
    """Describes denied calls, with the name that one of them has if it is written otherwise."""
    first = calls[0]
    shown = show_denied(first.name, first.pattern)
    alike = "" if matches_id(first.pattern, first.name) else f", as {mark_name(shown)}"
    return f"{describe_unwanted(target.mark(), [each.place for each in calls])}{alike}"


class ExpectedTool(Evaluator):
    """The tool `expected_tool` (or `tool`) is called at least `min_calls` times.

    `expected_tool: null` is the negative scenario: no call of `tool` (one or several), or of any tool if `tool` is
    not given. With `action`, only calls whose argument `action_argument` has this value count.
    """

    type: Literal["expected_tool"]
    version = 5  # 2: `*` in names; 3: without an expected tool, only the scheduling tools; 4: names, 5: actions alike
    demands = ("expected_tool", "tool")
    takes_tool_of = "variant"
    orders: ClassVar[dict[str, Order]] = {"min_calls": "at_least", "tool": "same_or_forbidden", "not_meant": "excepted"}
    expected_tool: Annotated[
        ToolName | None, described("The tool that must be called; null: none.", "schedule_task")
    ] = None
    tool: Annotated[ToolNames | None, A_TOOL] = None
    not_meant: NotMeant = None
    min_calls: Annotated[
        Annotated[int, Field(ge=0)] | None, described("The minimum number of calls; 1 unless set.", 3)
    ] = None
    action: Action = None
    action_argument: ActionArgument = "action"

    def label(self) -> str:
        """The check in words."""
        if self._is_negative():
            return f"no call of {self._select_calls(self.tool)}" if self.tool else "no tool call"
        target = self._select_calls([self.expected_tool] if self.expected_tool else self.tool or [""])
        least = 1 if self.min_calls is None else self.min_calls
        return f"{target} called" if least == 1 else f"{target} called at least {format_times(least)}"

    def merge_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Null for `expected_tool` demands that no call is made, which is another demand than none."""
        is_negative, expected, tools = self._is_negative(), fields.pop("expected_tool"), self.tool
        return fields | {
            "tool": (tools or ["*"]) if is_negative else expected or (tools or [""])[0],
            "min_calls": None if is_negative else self.min_calls or 1,
            "is_negative": is_negative,
        }

    def _is_negative(self) -> bool:
        return self.expected_tool is None and "expected_tool" in self.model_fields_set

    def compile(self) -> Check:
        """Validates that the fields agree; raises FieldProblemError."""
        if self._is_negative():
            return self._compile_negative()
        if self.not_meant is not None:
            raise FieldProblemError("not_meant", "`not_meant` needs `expected_tool: null` and `tool`")
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

    def compile_opposite(self) -> Check:
        """Returns a check in which another action does not satisfy, however alike it is written."""
        return self._compile_negative(is_limit=False) if self._is_negative() else self.compile()

    def _select_calls(self, tools: Sequence[str], *, is_limit: bool = False) -> CallFilter:
        return CallFilter(tuple(tools), self.action, self.action_argument, is_limit)

    def _compile_negative(self, *, is_limit: bool = True) -> Check:
        if self.min_calls:
            raise FieldProblemError("min_calls", "if no tool is expected, `min_calls` must be 0")
        if self.tool is not None:
            return _forbid_calls(self._select_calls(self.tool, is_limit=is_limit), self.not_meant)
        if self.action is not None:
            raise FieldProblemError("action", "`action` needs `tool`: the tool that has this action")
        return build_count_rule(None, 0, 0)

    @classmethod
    def find_unseen(cls, fields: Mapping[str, Any], *, is_negated: bool) -> UnseenFields:
        """Where no tool is expected, `tool` is forbidden."""
        forbidden, needed = super().find_unseen(fields, is_negated=is_negated)
        if fields.get("expected_tool", fields.get("tool")):
            return UnseenFields(forbidden, needed)
        return UnseenFields([] if is_negated else ["tool"], [])


class NoTool(Evaluator):
    """`tool` is not called; with `action`, not with this action."""

    type: Literal["no_tool"]
    version = 4  # 2: `*` in names; 3: names that are written alike; 4: actions that are
    forbids = ("tool",)
    orders: ClassVar[dict[str, Order]] = {"not_meant": "excepted"}
    tool: NamedTool
    not_meant: NotMeant = None
    action: Action = None
    action_argument: ActionArgument = "action"

    def label(self) -> str:
        """The check in words."""
        return f"no call of {CallFilter(self.tool, self.action, self.action_argument)}"

    def compile(self) -> Check:
        """Returns a check of the calls."""
        return self._compile(is_limit=True)

    def compile_opposite(self) -> Check:
        """Returns a check in which another action does not satisfy, however alike it is written."""
        return self._compile(is_limit=False)

    def _compile(self, *, is_limit: bool) -> Check:
        return _forbid_calls(CallFilter(self.tool, self.action, self.action_argument, is_limit), self.not_meant)


class NoRunCode(Evaluator):
    """Another name of `no_tool`, whose `tool` is `run_code` by default."""

    type: Literal["no_run_code"]
    version = 3  # 2: `*` in names; 3: names that are written alike
    forbids = ("tool",)
    orders: ClassVar[dict[str, Order]] = {"not_meant": "excepted"}
    tool: NamedTool = "run_code"
    not_meant: NotMeant = None
    words = "no call of {tool}"

    def compile(self) -> Check:
        """Returns a check of the calls."""
        return _forbid_calls(CallFilter(self.tool), self.not_meant)


class Timing(Evaluator):
    """Settings that the timing checks share: which calls they judge, and the names of arguments.

    Without such a call: failed. If the result depends on arguments that were not captured: not_evaluable.
    """

    version = 2  # `*` in the name of a tool matches any characters
    demands = ("tool",)
    takes_tool_of = "scenario"
    tool: NamedTool
    action: Action = None
    action_argument: ActionArgument = "action"
    delay_argument: Annotated[Argument, described("The argument that holds a delay in seconds.", "delay_seconds")] = (
        "delay_seconds"
    )
    when_argument: Annotated[Argument, described("The argument that holds a time.", "when")] = "when"
    recurring_argument: Annotated[
        Argument, described("The argument that says whether the call recurs.", "recurring")
    ] = "recurring"
    final_outcome: ClassVar[Outcome | None] = None
    """The outcome that one call decides, however many others there are."""

    def label(self) -> str:
        """The check in words."""
        return f"{self._target()}: {self.type.replace('_', ' ')}"

    def _target(self) -> CallFilter:
        return CallFilter(self.tool, self.action, self.action_argument)

    def compile(self) -> Check:
        """Returns a check of the arguments of the calls."""
        target = self._target()

        def check(trace: Trace) -> Finding:
            matching, possible = target.select(trace)
            if not matching and not possible:
                others = describe_other_calls(trace, target.patterns)
                return Finding("failed", f"{target.mark()} must be called, but {others}")
            captured_calls = [each for each in matching if is_captured(each[1])]
            return self.judge(captured_calls, len(matching) + len(possible) - len(captured_calls))

        def is_decided(found: Finding, trace: Trace) -> bool:
            return found.outcome == self.final_outcome and bool(target.select(trace).matching)

        return require_evidence(check, ARGUMENTS, is_decided=is_decided)

    @abstractmethod
    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Judges the calls whose arguments are known; `unknown` is the number of the others."""


def _get_argument(call: NumberedCall, name: str) -> Any:
    arguments = call[1]["arguments"]
    return arguments.get(name) if isinstance(arguments, dict) else None


def _describe_call(call: NumberedCall) -> str:
    recorded = call[1]["arguments"]
    given = mark_value(call[1]["arguments_raw"] if recorded is None else recorded, 100)
    return f"call {call[0]:,} {given}{name_makers([call[1]['actor']])}"


def _build_unknown(unknown: int) -> Finding:
    return Finding("not_evaluable", f"the arguments of {unknown:,} of the calls were not captured")


class HasTiming(Timing):
    """Each call has a number of seconds as its delay, or a time as its `when` argument."""

    type: Literal["has_timing"]
    final_outcome = "failed"

    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Fails if one call has no time."""
        delay, when = self.delay_argument, self.when_argument
        expected = f"expected a number as {mark_name(delay)} or a time as {mark_name(when)}"
        for call in calls:
            if not is_number(_get_argument(call, delay)) and not is_moment(_get_argument(call, when)):
                return Finding("failed", f"{expected}, got {_describe_call(call)}")
        words = "call has" if len(calls) == 1 else "calls have"
        return _build_unknown(unknown) if unknown else Finding("passed", f"{len(calls):,} {words} a time")


class StaggeredTiming(Timing):
    """The calls are spread over time.

    If any call has a delay, all must have one, each longer than the one before. Else, if all `when` arguments
    are whole numbers, these must grow. Else at least two `when` arguments must differ.
    """

    type: Literal["staggered_timing"]

    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Picks one of the three rules; that depends on all calls, so none may be unknown."""
        if unknown:
            return _build_unknown(unknown)
        delays = [_get_argument(call, self.delay_argument) for call in calls]
        if any(delay is not None for delay in delays):
            expected = f"expected a number as {mark_name(self.delay_argument)} in every call"
            for call, delay in zip(calls, delays, strict=True):
                if not is_number(delay):
                    return Finding("failed", f"{expected}, got {_describe_call(call)}")
            return self._judge_growth(self.delay_argument, delays)
        moments = [_get_argument(call, self.when_argument) for call in calls]
        if all(map(is_whole, moments)):
            return self._judge_growth(self.when_argument, moments)
        different = len({json_key(moment) for moment in moments if is_moment(moment)})
        expected = f"expected at least 2 different values of {mark_name(self.when_argument)}"
        reason = f"{expected}, got {different}: {mark_value(moments, 120)}"
        return Finding("passed" if different > 1 else "failed", reason)

    def _judge_growth(self, name: str, values: list[float]) -> Finding:
        argument = mark_name(name)
        if strictly_increasing(values):
            return Finding("passed", f"{argument} grows from call to call: {mark_value(values, 120)}")
        return Finding("failed", f"expected {argument} to grow from call to call, got {mark_value(values, 120)}")


class IsRecurring(Timing):
    """At least one call recurs: its `recurring` is true, or its `when` looks like a cron expression."""

    type: Literal["is_recurring"]
    final_outcome = "passed"

    def judge(self, calls: list[NumberedCall], unknown: int) -> Finding:
        """Passes if one call recurs."""
        recurring, when = self.recurring_argument, self.when_argument
        for call in calls:
            if _get_argument(call, recurring) is True or looks_like_cron(_get_argument(call, when)):
                return Finding("passed", f"{_describe_call(call)} recurs")
        if unknown:
            return _build_unknown(unknown)
        expected = f"expected {mark_name(f'{recurring}: true')} or a cron expression as {mark_name(when)}"
        return Finding("failed", f"{expected}, got {_describe_call(calls[0])}")


_VALUE = r"(?:\d{1,2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)"
_PART = rf"(?:\*|{_VALUE}(?:-{_VALUE})?)(?:/\d{{1,2}})?"
_FIELD = re.compile(rf"{_PART}(?:,{_PART})*", re.IGNORECASE | re.ASCII)
_CRON_FIELDS = 5
LONGEST_CRON = 200
"""Characters; longer text is prose."""


def is_moment(value: Any) -> bool:
    """Returns whether the value may be a time: non-blank text, a number, a non-empty list or object."""
    if isinstance(value, str):
        return bool(value.strip())
    return bool(value) if isinstance(value, list | dict) else is_number(value)


def is_whole(value: Any) -> bool:
    """Returns whether the value is a whole number; 5.0 is one, as in JSON."""
    return is_number(value) and value == int(value)


def strictly_increasing(values: Sequence[float]) -> bool:
    """Returns whether each value is greater than the previous one; true for no value and for one."""
    return all(before < after for before, after in pairwise(values))


def looks_like_cron(value: Any) -> bool:
    """Returns whether the value has five cron fields, like `0 9 * * mon-fri` or `*/15 * * * *`."""
    if not isinstance(value, str) or len(value) > LONGEST_CRON:
        return False
    fields = value.split()
    return len(fields) == _CRON_FIELDS and all(map(_FIELD.fullmatch, fields))
