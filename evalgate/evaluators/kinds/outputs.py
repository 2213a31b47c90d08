"""Checks of one output: a text in it, a number, a value within its JSON, the exit code of a command."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, Order
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.operators import Alias, resolve_alias, sign
from evalgate.evaluators.kinds.output_source import (
    Output,
    SourceField,
    Target,
    build_check,
    build_finding,
    describe_source,
)
from evalgate.measures.text.patterns import Pattern, PatternError, PatternFailedError, matches_all
from evalgate.measures.text.plain_text import EXACT, SEEN, choose_forms, compose, mark_part, remove_unseen
from evalgate.measures.values.json_values import (
    COMPARE,
    is_number,
    json_equal,
    mark_text,
    mark_value,
    shorten,
    show,
    show_typed,
)
from evalgate.measures.values.outputs import (
    OutputError,
    PathError,
    format_number,
    look_up,
    parse_path,
    quote_beginning,
    read_json,
    read_number,
    to_decimal,
    to_json_number,
)
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.evaluators.kinds.output_source import Verdict
    from evalgate.models.trace.trace import Trace

_Relation = Literal["eq", "ne", "lt", "lte", "gt", "gte"]
Relation = Annotated[_Relation, BeforeValidator(resolve_alias, json_schema_input_type=_Relation | Alias)]


class OutputContains(Evaluator):
    """The final answer, or what `source` names, contains the text `value` or a match of the pattern `pattern`.

    With `literal` the pattern is searched for as plain text. Texts are compared after NFC, those of the answer with
    typographic blanks, hyphens and apostrophes as plain ones; where the check is negated, neither these nor characters
    that can't be seen hide a match.
    """

    type: Literal["output_contains"]
    version = (
        4  # 2: `*` in the name of a tool; 3: NFC, an invalid pattern is no text; 4: typographic signs are plain ones
    )
    judges_calls_of = ("source.tool",)
    orders: ClassVar[dict[str, Order]] = {"value": "part"}
    value: Annotated[Annotated[str, Field(min_length=1)] | None, described("The text to look for.", "refunded")] = None
    pattern: Annotated[
        Annotated[str, Field(min_length=1)] | None, described("A regular expression.", "refund(ed)?")
    ] = None
    literal: Annotated[bool, described("Whether `pattern` is searched for as plain text.", True)] = False
    source: SourceField = None

    def holds_always(self) -> bool:
        """Whether the pattern matches every text."""
        return self.pattern is not None and not self.literal and matches_all(self.pattern)

    def label(self) -> str:
        """The check in words."""
        return f"{describe_source(self.source)} contains {self._requirement()}"

    def _requirement(self) -> str:
        if self.pattern and not self.literal:
            return f"/{shorten(self.pattern, 60)}/"
        return show(self.pattern or self.value, 60)

    def compile(self) -> Check:
        """Validates that either `value` or `pattern` is given; raises FieldProblemError."""
        return self._compile(self._build_search())

    def compile_opposite(self) -> Check:
        """Returns a check that also finds what is written with other blanks, or with characters that can't be seen."""
        if self._wanted is None:
            searches = [self._build_search(), *(self._build_pattern(remove_unseen, form) for form in SEEN)]
        else:
            searches = [self._build_search(), self._build_text(choose_forms([self._wanted]).seen)]
        return self._compile(lambda text: any(is_found_in(text) for is_found_in in searches))

    @property
    def _wanted(self) -> str | None:
        """The text that is searched for; None if it is a pattern."""
        return self.value if self.pattern is None else self.pattern if self.literal else None

    def _compile(self, is_found_in: Callable[[str], bool]) -> Check:
        requirement = mark_part(self._requirement())
        passed = build_finding("success", self.label())

        def judge(output: Output, _: Trace) -> Finding:
            try:
                found = is_found_in(output.text)
            except PatternFailedError as error:
                return build_finding("error", f"{requirement}: {error}")
            if found:
                return passed
            got = mark_text(output.text, 120)
            return build_finding("failure", f"expected {output.subject} to contain {requirement}, got {got}")

        return build_check(self.source, judge)

    def _build_search(self) -> Callable[[str], bool]:
        """Builds the search in the text as it is written; raises FieldProblemError."""
        if (self.value is None) == (self.pattern is None):
            raise FieldProblemError("type", "output_contains needs either `value` (text) or `pattern` (regex)")
        if self.literal and self.pattern is None:
            raise FieldProblemError("literal", "`literal` needs `pattern`", "`value` is always plain text")
        if self._wanted is None:
            return self._build_pattern(compose, compose)
        return self._build_text((choose_forms([self._wanted]) if self.source is None else EXACT).written)

    def _build_text(self, prepare: Callable[[str], str]) -> Callable[[str], bool]:
        wanted = prepare(self._wanted or "")
        return lambda output: wanted in (output if output.isascii() else prepare(output))

    def _build_pattern(self, prepare: Callable[[str], str], form: Callable[[str], str]) -> Callable[[str], bool]:
        """Builds the search for the prepared pattern in a form of the text."""
        try:
            pattern = Pattern(prepare(self.pattern or ""))
        except PatternError as error:
            hint = "add `literal: true` to search for it as plain text"
            raise FieldProblemError("pattern", f"{error}: {show(self.pattern, 60)}", hint) from None
        return lambda output: pattern.is_found_in(output if output.isascii() else form(output))


class OutputNumeric(Evaluator):
    """The final answer, or what `source` names, compares to the number `target` as `operator` demands.

    An output that is no finite number is an error.
    """

    type: Literal["output_numeric"]
    version = 2  # `*` in the name of a tool matches any characters
    compares_with = "target"
    judges_calls_of = ("source.tool",)
    operator: Annotated[Relation, described("How the values are compared: eq, ne, lt, lte, gt or gte.", "lte")]
    target: Annotated[Target, described("The value to compare with.", 0)]
    source: SourceField = None

    def label(self) -> str:
        """Returns the check as a person would write it."""
        return f"{describe_source(self.source)} {sign(self.operator)} {format_number(self.target)}"

    def compile(self) -> Check:
        """Returns the comparison; raises FieldProblemError if the source is invalid."""
        compare, target = COMPARE[self.operator], to_decimal(self.target)
        relation = f"{sign(self.operator)} {format_number(self.target)}"

        def judge(output: Output, _: Trace) -> Finding:
            value = read_number(output.text)
            figure = to_json_number(value)
            if compare(value, target):
                return build_finding("success", f"{output.subject} is {format_number(value)}", value=figure)
            expected = f"expected {output.subject} {relation}"
            return build_finding("failure", f"{expected}, got {format_number(value)}", value=figure)

        return build_check(self.source, judge)


class OutputJson(Evaluator):
    """The value at `path` (`.a.0`) of the final answer, or of what `source` names, compares to `target`.

    Only numbers have an order; other values are equal or not. Invalid JSON, a missing path, and an order
    between other values are errors.
    """

    type: Literal["output_json"]
    version = 2  # `*` in the name of a tool matches any characters
    compares_with = "target"
    judges_calls_of = ("source.tool",)
    path: Annotated[str, described("The way to the value in the JSON output.", ".summary.failed")]
    operator: Annotated[Relation, described("How the values are compared: eq, ne, lt, lte, gt or gte.", "lte")]
    target: Annotated[Any, described("The value to compare with.", 0)]
    source: SourceField = None

    def label(self) -> str:
        """Returns the check as a person would write it."""
        path_text = shorten(self.path if self.path[:1] == "." else f".{self.path}", 60)
        where = "" if self.source is None else f"{describe_source(self.source)} "
        return f"{where}{path_text} {sign(self.operator)} {show(self.target, 40)}"

    def warning(self) -> str | None:
        """Returns the warning of `validate` about an order that no value can have with the target."""
        if self.operator in ("eq", "ne") or is_number(self.target):
            return None
        return f"`{self.operator}` is an error on every trace, since {show(self.target, 40)} is not a number"

    def compile(self) -> Check:
        """Validates path and target; raises FieldProblemError."""
        if isinstance(self.target, float) and not isfinite(self.target):
            raise FieldProblemError("target", "`target` must be a finite number")
        try:
            steps = parse_path(self.path)
        except PathError as error:
            raise FieldProblemError("path", f"invalid path: {error}: {shorten(self.path, 60)}") from None
        marked = mark_part(f".{shorten('.'.join(steps), 60)}")

        def judge(output: Output, _: Trace) -> Finding:
            value = look_up(read_json(output.text), steps)
            evidence = {"value": value if is_number(value) else show(value)}
            if self._holds(value):
                return build_finding("success", f"{marked} is {mark_value(value)}", **evidence)
            expected = f"expected {marked} {sign(self.operator)} {mark_value(self.target)}"
            return build_finding("failure", f"{expected}, got {mark_value(value)}", **evidence)

        return build_check(self.source, judge)

    def _holds(self, value: Any) -> bool:
        if is_number(value) and is_number(self.target):
            return COMPARE[self.operator](value, self.target)
        if self.operator in ("eq", "ne"):
            return json_equal(value, self.target) is (self.operator == "eq")
        raise OutputError(
            f"`{self.operator}` compares two numbers, not {show_typed(value, 40)} and {show_typed(self.target, 40)}"
        )


_INTEGER = re.compile(r"[+-]?[0-9]+")


class ExitCode(Evaluator):
    """The final answer, or what `source` names, is an exit code: 0 is success, 1 failure, any other an error.

    With `source: {tool: ...}`, `field` defaults to `exit_code`.
    """

    type: Literal["exit_code"]
    version = 2  # `*` in the name of a tool matches any characters
    judges_calls_of = ("source.tool",)
    source: SourceField = None

    def label(self) -> str:
        """The check in words."""
        return f"{describe_source(self.source, 'exit_code')} is 0"

    def compile(self) -> Check:
        """Returns a check of the number; raises FieldProblemError if the source is invalid."""
        return build_check(self.source, _judge_code, "exit_code")


def _judge_code(output: Output, _: Trace) -> Finding:
    code = output.text.strip()
    if not _INTEGER.fullmatch(code):
        raise OutputError(f"expected an exit code, got {quote_beginning(output.text)}")
    digits = code.lstrip("+-").lstrip("0")
    if not digits:
        return build_finding("success", f"exit code {shorten(code, 20)}")
    word: Verdict = "failure" if digits == "1" and code[0] != "-" else "error"
    return build_finding(word, f"expected exit code 0, got {shorten(code, 20)}")
