"""Checks that each call of one tool has to pass: its arguments, its duration."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from evalgate.evaluators.core.evaluator import (
    ARGUMENTS,
    FAILED,
    MONTH,
    Amount,
    Check,
    Evaluator,
    Finding,
    NamedTool,
    Order,
    combine,
    require_evidence,
)
from evalgate.evaluators.kinds.calls.call_selection import (
    CallFilter,
    describe_other_calls,
    find_first,
    name_call,
)
from evalgate.measures.numeric.means import DIGITS
from evalgate.measures.text.tool_words import find_parameters
from evalgate.measures.values.json_values import (
    Schema,
    SchemaError,
    format_distinct,
    json_equal,
    mark_name,
    mark_value,
)
from evalgate.models.trace.trace import list_arguments
from evalgate.models.trace.trace_view import is_captured
from evalgate.strict_model import described

if TYPE_CHECKING:
    from evalgate.evaluators.kinds.calls.call_selection import NumberedCall
    from evalgate.models.trace.trace import ToolCall, Trace


class ToolArguments(Evaluator):
    """Every call of `tool` has arguments that fit `schema`, by default the tool's schema in the trace.

    Without such a call, without captured arguments or without any schema: not_evaluable.
    """

    type: Literal["tool_arguments"]
    other_names = ("trajectory:tool-args-match", "argument-correctness")
    version = 4  # 2: `*` in the name of a tool; 3: also calls written alike; 4: formats, types of keywords
    judges_calls_of = ("tool",)
    tool: NamedTool
    json_schema: Annotated[
        dict[str, Any] | None,
        Field(alias="schema"),
        described("A JSON Schema (2020-12); by default the tool's in the trace.", {"required": ["amount"]}),
    ] = None

    def holds_always(self) -> bool:
        """Whether the schema has no rule; without one of its own it takes the tool's."""
        return self.json_schema == {}

    def label(self) -> str:
        """The check in words."""
        return f"arguments of {self.tool} fit {'their' if self.json_schema is None else 'the'} schema"

    def compile(self) -> Check:
        """Compiles the schema; raises FieldProblemError."""
        return self._compile(is_strict=True)

    def compile_opposite(self) -> Check:
        """Returns the check for a place where it must not pass: what is not judged fits the schema."""
        return self._compile(is_strict=False)

    def _compile(self, *, is_strict: bool) -> Check:
        target, suite_schema = CallFilter(self.tool, is_limit=True), self._compile_schema(is_strict=is_strict)
        recorded_schemas, is_glob = _RecordedSchemas(), "*" in self.tool

        def check(trace: Trace) -> Finding:
            calls = target.select(trace).matching
            if not calls:
                others = describe_other_calls(trace, target.patterns)
                return Finding("not_evaluable", f"{target.mark()} was not called, {others}")
            if suite_schema is not None:
                return _judge_calls(calls, suite_schema, target.mark())
            if not is_glob:
                return recorded_schemas.judge_calls(trace, self.tool, calls)
            return combine([recorded_schemas.judge_calls(trace, *each) for each in _group_by_tool(calls).items()])

        return require_evidence(check, ARGUMENTS, FAILED)

    def _compile_schema(self, *, is_strict: bool) -> Schema | None:
        from evalgate.evaluators.core.suite_schemas import compile_schema  # only if a suite has schemas

        return None if self.json_schema is None else compile_schema(self.json_schema, "schema", is_strict=is_strict)


def _group_by_tool(calls: list[NumberedCall]) -> dict[str, list[NumberedCall]]:
    found: dict[str, list[NumberedCall]] = {}
    for each in calls:
        found.setdefault(each[1]["name"], []).append(each)
    return found


def _judge_calls(calls: list[NumberedCall], schema: Schema, tool: str) -> Finding:
    captured = [each for each in calls if is_captured(each[1])]
    flaws = {number: flaw for number, call in captured if (flaw := _describe_flaw(call, schema))}
    if flaws:
        number, call = find_first([each for each in captured if each[0] in flaws])
        return Finding("failed", f"the arguments of {tool} {flaws[number]} ({name_call(number, call['actor'])})")
    if unknown := len(calls) - len(captured):
        return Finding(
            "not_evaluable", f"the arguments of {unknown:,} of {len(calls):,} calls of {tool} were not captured"
        )
    return Finding("passed", f"the arguments of all {len(calls):,} calls of {tool} fit the schema")


def _describe_flaw(call: ToolCall, schema: Schema) -> str:
    """What is wrong with the arguments; empty if they fit the schema."""
    if call["arguments_error"] is not None:
        return f"must be JSON, but are {mark_value(call['arguments_raw'])}"
    judged = ((each, schema.first_difference(each)) for each in list_arguments(call))
    arguments, difference = next((pair for pair in judged if pair[1] is not None), (None, None))
    return "" if difference is None else f"don't fit the schema: {difference} in {mark_value(arguments, 120)}"


class _RecordedSchemas:
    """Compiles the schemas recorded in traces; caches the last one, as traces of one agent share it."""

    __slots__ = ("_compiled", "_source")

    def __init__(self) -> None:
        self._source: Any = None
        self._compiled: Schema | None = None

    def judge_calls(self, trace: Trace, tool: str, calls: list[NumberedCall]) -> Finding:
        """Judges the calls of one tool by its schema in the trace."""
        name = mark_name(tool)
        try:
            schema = self.get_schema(trace, tool)
        except SchemaError:
            return Finding("not_evaluable", f"the schema of {name} in the trace is not a JSON Schema")
        if schema is None:
            return Finding("not_evaluable", f"the trace has no schema of {name}")
        return _judge_calls(calls, schema, name)

    def get_schema(self, trace: Trace, tool: str) -> Schema | None:
        """Returns the compiled schema of a tool, None if the trace has none. Raises SchemaError."""
        source = find_parameters(tool, trace.tool_definitions)
        if source is None:
            return None
        if self._compiled is None or not json_equal(source, self._source):
            self._compiled = Schema(source)
            self._source = source
        return self._compiled


class ToolLatencyLimit(Evaluator):
    """Each call of `tool` took at most `max_seconds` s. Without a call or a known time: not_evaluable."""

    type: Literal["tool_latency_limit"]
    version = 3  # 2: `*` in the name of a tool; 3: also calls of names that are written alike
    judges_calls_of = ("tool",)
    orders: ClassVar[dict[str, Order]] = {"max_seconds": "at_most"}
    no_limit: ClassVar = {"max_seconds": MONTH}
    tool: NamedTool
    max_seconds: Annotated[Amount, described("The maximum time in seconds.", 10)]
    words = "latency of {tool} <= {max_seconds:g} s"

    def compile(self) -> Check:
        """Returns a check of the slowest call."""
        target, limit = CallFilter(self.tool, is_limit=True), self.max_seconds

        def check(trace: Trace) -> Finding:
            calls = target.select(trace).matching
            if not calls:
                others = describe_other_calls(trace, target.patterns)
                return Finding("not_evaluable", f"{target.mark()} was not called, {others}")
            durations = [
                (call["duration_ms"] / 1000, number, call["actor"])
                for number, call in calls
                if call["duration_ms"] is not None
            ]
            slowest, number, actor = max(durations, key=itemgetter(0, 1), default=(0.0, 0, None))
            found, most = format_distinct(slowest, limit)
            tool = target.mark()
            reason = f"slowest call of {tool} {found} s ({name_call(number, actor)}), limit {most} s"
            if round(slowest - limit, DIGITS) > 0:
                return Finding("failed", reason)
            unknown = len(calls) - len(durations)
            if unknown:
                return Finding("not_evaluable", f"latency unknown for {unknown:,} of {len(calls):,} calls of {tool}")
            return Finding("passed", reason)

        return require_evidence(check, ("calls", "times"), FAILED)
