"""Checks of which tools an agent calls, how many times, and how many of the calls fail.

Most rules need only the names of tools, which a trace has without building its call objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import (
    A_TOOL,
    CALLS,
    FAILED,
    MANY,
    PASSED,
    Check,
    Count,
    Evaluator,
    EvidenceCheck,
    Finding,
    NamedTool,
    NotMeant,
    Order,
    ToolName,
    UnseenFields,
    careful_form,
    combine,
    plain_form,
    require_evidence,
)
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.kinds.calls.call_selection import (
    Denial,
    describe_denied,
    describe_other_calls,
    describe_unwanted,
    find_first,
    format_calls,
    format_names,
    mark_names,
    name_call,
    name_makers,
    show_denied,
    suggest_name,
)
from evalgate.measures.text.globs import find_names, matches_id
from evalgate.measures.text.similar_names import unwrap_name
from evalgate.measures.values.json_values import mark_name, mark_value
from evalgate.measures.values.outputs import ended_in_error
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.models.trace.trace import ToolCall, Trace


_NO_ARGUMENTS = dict.fromkeys(
    ("args", "arguments"),
    "`tool_sequence` matches arguments: {type: tool_sequence, sequence: [{tool: NAME, args: {KEY: VALUE}}]}",
)


class ToolCalled(Evaluator):
    """The agent called `tool` at least once. `*` in its name matches any characters, other characters are literal."""

    type: Literal["tool_called"]
    other_keys = _NO_ARGUMENTS
    other_names = ("trajectory:tool-used", "tool-used", "tool-call", "is-valid-openai-tools-call")
    version = 3  # 2: `*` in names; 3: negated, also names that are written alike
    demands = ("tool",)
    tool: NamedTool
    words = "tool {tool} called"

    def compile(self) -> Check:
        """Returns a check of the names."""
        tool, is_glob = self.tool, "*" in self.tool
        return self._compile(lambda trace: bool(find_names(tool, trace.called)) if is_glob else tool in trace.called)

    def compile_opposite(self) -> Check:
        """Returns a check of all names of the calls, however they are written."""
        denial = Denial((self.tool,))
        return self._compile(lambda trace: bool(denial.list_calls(trace)))

    def _compile(self, is_called: Callable[[Trace], bool]) -> Check:
        tool = self.tool
        passed, marked = Finding("passed", f"{mark_name(tool)} was called"), mark_name(tool)

        def check(trace: Trace) -> Finding:
            if is_called(trace):
                return passed
            return Finding("failed", f"{marked} must be called, but {describe_other_calls(trace, [tool])}")

        return require_evidence(check, CALLS, PASSED)

    def describe_unwanted(self, trace: Trace) -> str:
        """Describes the calls that were made although the assertion is negated."""
        return describe_unwanted(mark_name(self.tool), [each.place for each in Denial((self.tool,)).list_calls(trace)])


def combine_rules(rules: Sequence[Check]) -> Check:
    """Builds a check of several rules, all of which must hold."""
    plain, careful = [plain_form(rule) for rule in rules], [careful_form(rule) for rule in rules]
    return EvidenceCheck(
        lambda trace: combine([rule(trace) for rule in plain]), lambda trace: combine([rule(trace) for rule in careful])
    )


def build_count_rule(tool: str | None, least: int, most: int | None, *, must_not_pass: bool = False) -> Check:
    """Builds a rule: `least` to `most` calls (None: no limit) of `tool` (a name or glob; None: of all tools).

    A limit counts calls by all their names, however they are written; a demand by the exact name. Where the rule
    `must_not_pass`, it is the other way round.
    """
    expected = _format_bounds(least, most, None if tool is None else mark_name(tool))
    count_least, count_most = (_count_denied, _count_calls) if must_not_pass else (_count_calls, _count_denied)

    def judge(trace: Trace) -> Finding:
        found, highest = count_least(trace, tool), 0 if most is None else count_most(trace, tool)
        is_within = least <= found and (most is None or highest <= most)
        if is_within or found < least:
            return Finding("passed" if is_within else "failed", f"expected {expected}, got {found:,}")
        return Finding("failed", f"expected {expected}, got {highest:,}{name_makers(_list_actors(trace, tool))}")

    if most is None:
        return require_evidence(judge, CALLS, PASSED)
    if not least:
        return require_evidence(judge, CALLS, FAILED)
    return require_evidence(judge, CALLS, is_decided=lambda _, trace: count_most(trace, tool) > most)


def _count_calls(trace: Trace, tool: str | None) -> int:
    names = trace.called
    if tool is None:
        return len(names)
    return sum(matches_id(tool, name) for name in names) if "*" in tool else names.count(tool)


def _count_denied(trace: Trace, tool: str | None) -> int:
    return len(trace.called) if tool is None else len(Denial((tool,)).list_calls(trace))


def _list_actors(trace: Trace, tool: str | None) -> list[str | None]:
    """Who made each call that a limit counts."""
    return (
        [each["actor"] for each in trace.agent_calls]
        if tool is None
        else [each.actor for each in Denial((tool,)).list_calls(trace)]
    )


def _format_bounds(least: int, most: int | None, tool: str | None) -> str:
    if most is None:
        return f"at least {format_calls(least, tool)}"
    if least == most:
        return f"exactly {format_calls(most, tool)}" if most else format_calls("no", tool)
    return f"{least:,} to {format_calls(most, tool)}" if least else f"at most {format_calls(most, tool)}"


def build_forbidden_rule(denial: Denial) -> Check:
    """Builds a rule: no call is of a denied tool."""
    passed = Finding("passed", "no forbidden tool was called")

    def judge(trace: Trace) -> Finding:
        calls = denial.list_calls(trace)
        return Finding("failed", describe_denied(calls, trace)) if calls else _judge_helpers(trace, denial) or passed

    return require_evidence(judge, CALLS, FAILED)


def build_unnamed_rule(globs: Sequence[str]) -> Check:
    """Builds a rule that must not pass: no name is exactly one of the globs, so that a look-alike does not satisfy."""
    passed = Finding("passed", "no forbidden tool was called")

    def judge(trace: Trace) -> Finding:
        called = next((name for name in trace.called if _find_glob(name, globs) is not None), None)
        return passed if called is None else Finding("failed", f"{mark_name(called)} was called")

    return require_evidence(judge, CALLS, FAILED)


def _judge_helpers(trace: Trace, denial: Denial) -> Finding | None:
    """A failure if a call that was asked for as a structure of an answer has a forbidden name."""
    names = (call["name"] for call in trace.helper_calls)
    found = next(((name, pattern) for name in names if (pattern := denial.find_pattern(name)) is not None), None)
    if found is None:
        return None
    shown = mark_name(show_denied(*found))
    return Finding("failed", f"{shown} must not be called, but was asked for in a separate model call")


def build_allowed_rule(globs: Sequence[str]) -> Check:
    """Builds a rule: every name of every call, without the wrappers of providers, matches one of the globs."""
    passed = Finding("passed", "only allowed tools were called")

    def judge(trace: Trace) -> Finding:
        first_calls = _find_first_calls(trace.called_names)
        others = [name for name in first_calls if not _is_allowed(name, globs)]
        if not others:
            return passed
        allowed = ("is no allowed tool", "was") if len(others) == 1 else ("are no allowed tools", "were")
        number = first_calls[others[0]]
        place = name_call(number, trace.agent_calls[number - 1]["actor"])
        called = f"{mark_names(others)} {allowed[0]}, but {allowed[1]} called (first: {place})"
        unused = [each for each in globs if each not in first_calls]
        return Finding("failed", f"{called}{_suggest_allowed(unused, others)}")

    return require_evidence(judge, CALLS, FAILED)


def _suggest_allowed(unused: Sequence[str], called: Sequence[str]) -> str:
    """Asks whether an allowed tool that was not called is a misspelling of one that was; empty if none is."""
    typo = next((each for each in unused if suggest_name([each], called)), None)
    return f"; the check allows {mark_name(typo)}{suggest_name([typo], called)}" if typo else ""


def _find_first_calls(called: Sequence[tuple[str, ...]]) -> dict[str, int]:
    first_calls: dict[str, int] = {}
    for number, names in enumerate(called, 1):
        for name in names:
            first_calls.setdefault(name, number)
    return first_calls


def _is_allowed(name: str, globs: Sequence[str]) -> bool:
    return _find_glob(name, globs) is not None or _find_glob(unwrap_name(name), globs) is not None


def _find_glob(name: str, globs: Sequence[str]) -> str | None:
    return next((glob for glob in globs if matches_id(glob, name)), None)


_RESULTS_MISSING = "tool calls without a recorded result may have failed"


def build_error_rule(most: int) -> Check:
    """Builds a rule: at most `most` calls failed; a call without a recorded result may have failed."""

    def judge(trace: Trace) -> Finding:
        calls = trace.agent_calls
        failed = [call for call in calls if ended_in_error(call)]
        unknown = sum(call["status"] == "missing" for call in calls)
        silent = sum(call["status"] == "unknown" and not ended_in_error(call) for call in calls)
        reason = f"{len(failed):,} of {len(calls):,} tool calls failed, limit {most:,}"
        if len(failed) > most:
            return Finding("failed", f"{reason}; first: {_describe_error(find_first([*enumerate(failed)])[1])}")
        if len(failed) + unknown > most:
            # Without numbers, so that reports state it once for all scenarios.
            known = f"{reason}, and those without a recorded result may have, too" if failed else _RESULTS_MISSING
            return Finding("not_evaluable", known)
        return Finding("passed", f"{reason}{_describe_silent(silent)}")

    return require_evidence(judge, ("calls", "errors"), FAILED)


def _describe_silent(count: int) -> str:
    """Says how many results don't record whether their call succeeded, and count as no error."""
    return f" (of {count:,} only the result is recorded, without an `error` in it)" if count else ""


def _describe_error(call: ToolCall) -> str:
    message = call["error"]["message"] if call["error"] else None
    name = mark_name(call["name"])
    return f"{name}: {mark_value(message, 80)}" if message else name


_Names = Annotated[list[ToolName], Field(min_length=1)]
_SOME_TOOLS = described("Names of tools; `*` matches any characters.", ["issue_refund", "lookup_*"])


class ToolCalls(Evaluator):
    """Counts calls of `tool`, or of all tools if it is not given; every given rule must hold.

    `*` in the name of a tool matches any characters.
    """

    type: Literal["tool_calls"]
    other_keys = _NO_ARGUMENTS
    version = (
        4  # 2: `*` in names; 3: limits and `forbidden_tools` look at names that are written alike; 4: errors in results
    )
    forbids = ("forbidden_tools",)
    demands = ("allowed_tools", "tool")
    orders: ClassVar[dict[str, Order]] = {
        "forbidden_tools": "forbidden",
        "not_meant": "excepted",
        "allowed_tools": "allowed",
        "min": "at_least",
        "max": "at_most",
        "exactly": "unordered",
        "max_tool_calls": "at_most",
        "max_tool_errors": "at_most",
    }
    no_limit = dict.fromkeys(("max", "max_tool_calls", "max_tool_errors"), MANY)
    tool: Annotated[ToolName | None, A_TOOL] = None
    min: Annotated[Count | None, described("The minimum number of calls.", 1)] = None
    max: Annotated[Count | None, described("The maximum number of calls.", 3)] = None
    exactly: Annotated[Count | None, described("The exact number of calls.", 2)] = None
    forbidden_tools: Annotated[_Names | None, described("None of these tools may be called.", ["delete_*"])] = None
    not_meant: NotMeant = None
    allowed_tools: Annotated[list[ToolName] | None, described("Only these tools may be called.", ["lookup_*"])] = None
    max_tool_calls: Annotated[Count | None, described("The maximum number of calls of all tools.", 10)] = None
    max_tool_errors: Annotated[Count | None, described("The maximum number of calls that ended in an error.", 0)] = None

    def label(self) -> str:
        """The check in words."""
        subject = f"calls of {self.tool}" if self.tool else "tool calls"
        bounds = [
            f"{word} {bound}"
            for word, bound in (("exactly", self.exactly), ("at least", self.min), ("at most", self.max))
            if bound is not None
        ]
        return f"{subject}: {', '.join(bounds)}" if bounds else f"{subject} within their rules"

    def merge_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """`exactly` is the minimum and the maximum."""
        exactly = fields.pop("exactly")
        return fields if exactly is None else fields | {"min": exactly, "max": exactly}

    def compile(self) -> Check:
        """Validates that there is a rule and that the rules agree; raises FieldProblemError."""
        return self._compile(must_not_pass=False)

    def compile_opposite(self) -> Check:
        """Returns the same rules, with names compared the other way round."""
        return self._compile(must_not_pass=True)

    def _compile(self, *, must_not_pass: bool) -> Check:
        self._refuse_contradictions()
        least, most = (self.min, self.max) if self.exactly is None else (self.exactly, self.exactly)
        rules: list[Check] = []
        if least is not None or most is not None:
            rules.append(build_count_rule(self.tool, least or 0, most, must_not_pass=must_not_pass))
        if self.max_tool_calls is not None:
            rules.append(build_count_rule(None, 0, self.max_tool_calls))
        if self.forbidden_tools is not None:
            denial = Denial(tuple(self.forbidden_tools), tuple(self.not_meant or ()))
            rules.append(build_unnamed_rule(denial.patterns) if must_not_pass else build_forbidden_rule(denial))
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
        if self.not_meant is not None and self.forbidden_tools is None:
            raise FieldProblemError("not_meant", "`not_meant` needs `forbidden_tools`")
        if least == 0 and most is None:
            raise FieldProblemError("min", "`min: 0` checks nothing", "`exactly: 0` means no call")
        if self.tool is not None and least is None and most is None and exactly is None:
            raise FieldProblemError("tool", "`tool` needs `min`, `max` or `exactly`")

    @classmethod
    def find_unseen(cls, fields: Mapping[str, Any], *, is_negated: bool) -> UnseenFields:
        """Without a call of `tool`, an upper limit holds, and a lower one does not."""
        forbidden, needed = super().find_unseen(fields, is_negated=is_negated)
        needed = [each for each in needed if each != "tool"]
        holds_without = not (fields.get("min") or fields.get("exactly"))
        return UnseenFields(forbidden, [*needed, "tool"] if holds_without is not is_negated else needed)


class ForbiddenTools(Evaluator):
    """None of `tools` is called; `*` in a name matches any characters.

    A name counts that is the same after NFKC, without blanks at its ends, invisible characters, case and the wrappers
    `functions.`, `default_api.` and `tools.`, or that looks the same. `not_meant` names tools that are no such tool.
    """

    type: Literal["forbidden_tools"]
    forbids = ("tools",)
    version = 2  # also names that are written like a forbidden one
    orders: ClassVar[dict[str, Order]] = {"tools": "forbidden", "not_meant": "excepted"}
    tools: Annotated[_Names, _SOME_TOOLS]
    not_meant: NotMeant = None

    def label(self) -> str:
        """The check in words."""
        return f"forbidden tools: {format_names(self.tools)}"

    def compile(self) -> Check:
        """Returns a check of all names of the calls, however they are written."""
        return build_forbidden_rule(Denial(tuple(self.tools), tuple(self.not_meant or ())))

    def compile_opposite(self) -> Check:
        """Returns a check of the exact names: that such a tool is not called must not pass."""
        return build_unnamed_rule(self.tools)


class AllowedTools(Evaluator):
    """Only `tools` are called; `*` in a name matches any characters, an empty list allows no tool."""

    type: Literal["allowed_tools"]
    version = 2  # without the wrappers of providers
    demands = ("tools",)
    orders: ClassVar[dict[str, Order]] = {"tools": "allowed"}
    tools: Annotated[list[ToolName], _SOME_TOOLS]

    def label(self) -> str:
        """The check in words."""
        return f"allowed tools: {format_names(self.tools)}" if self.tools else "no tool call"

    def compile(self) -> Check:
        """Returns a check of the names."""
        return build_allowed_rule(self.tools)


class MaxToolCalls(Evaluator):
    """The agent makes at most `max` tool calls in total."""

    type: Literal["max_tool_calls"]
    other_keys: ClassVar = dict.fromkeys(
        ("tool", "tools"), "`tool_calls` counts the calls of one tool: {type: tool_calls, tool: NAME, max: 3}"
    )
    orders: ClassVar[dict[str, Order]] = {"max": "at_most"}
    no_limit: ClassVar = {"max": MANY}
    max: Annotated[Count, described("The maximum number of calls.", 10)]
    words = "tool calls <= {max}"

    def compile(self) -> Check:
        """Returns a check of the number of calls."""
        return build_count_rule(None, 0, self.max)


class MaxToolErrors(Evaluator):
    """At most `max` of the agent's tool calls end in an error."""

    type: Literal["max_tool_errors"]
    version = 2  # also errors in results
    orders: ClassVar[dict[str, Order]] = {"max": "at_most"}
    no_limit: ClassVar = {"max": MANY}
    max: Annotated[Count, described("The maximum number of calls that ended in an error.", 0)]
    words = "tool errors <= {max}"

    def compile(self) -> Check:
        """Returns a check of the number of errors; calls without a recorded result may have failed."""
        return build_error_rule(self.max)
