"""Checks that a text passes or fails: what it contains, begins and ends with, its pattern, its length, JSON."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import orjson
from pydantic import Field

from evalgate.evaluators.core.evaluator import Check, Count, Evaluator, Finding, Order, require_evidence
from evalgate.evaluators.core.operators import compile_pattern
from evalgate.evaluators.core.queries import FOUND_NOTHING, build_getter, compile_query, query_evidence
from evalgate.evaluators.core.shorthands import DEFAULT_PATH, finds_prose
from evalgate.measures.jmespath.query import QueryFailedError
from evalgate.measures.text.patterns import PatternFailedError, matches_all
from evalgate.measures.text.plain_text import (
    EXACT,
    SEEN,
    choose_forms,
    compose,
    is_visible,
    mark_part,
    remove_unseen,
)
from evalgate.measures.text.text_similarity import TooLongError
from evalgate.measures.values.json_values import (
    Schema,
    mark_name,
    mark_text,
    mark_value,
    shorten,
    show,
    show_typed,
)
from evalgate.models.trace.trace_view import answer_of
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.measures.values.json_values import Schema
    from evalgate.models.trace.trace import Trace


class TextEvaluator(Evaluator):
    """A check of the text that `path` finds, by default the final answer.

    No value is not_evaluable; a value that is not text fails; exceeding a search limit is an error.
    """

    path: Annotated[
        str, described("A JMESPath expression that finds the text; the final answer by default.", "response.content")
    ] = DEFAULT_PATH

    def requirement(self) -> str:
        """Returns the requirement in words, as the rest of a sentence about the text: `words` with fields quoted."""
        return self.words.format_map({name: _quote_field(value) for name, value in vars(self).items()})

    @abstractmethod
    def build_judge(self) -> Callable[[str], Finding]:
        """Builds the function that judges a text; raises FieldProblemError if a field is invalid."""

    def subject(self) -> str:
        """Returns the name of the text for reports."""
        return "answer" if self.path == DEFAULT_PATH else shorten(" ".join(self.path.split()), 60)

    def mark_subject(self) -> str:
        """Returns the name of the text as a part of a sentence."""
        return "the answer" if self.path == DEFAULT_PATH else mark_name(self.subject())

    def label(self) -> str:
        """The check in words."""
        return f"{self.subject()} {self.requirement()}"

    def compile(self) -> Check:
        """Returns a check that reads the text and judges it; raises FieldProblemError."""
        return self._compile(self.build_judge())

    def compile_opposite(self) -> Check:
        """Returns the check for a place where it must not pass."""
        return self._compile(self.build_opposite_judge())

    def build_opposite_judge(self) -> Callable[[str], Finding]:
        """Builds the function that judges a text where the check must not pass."""
        return self.build_judge()

    def _compile(self, judge: Callable[[str], Finding]) -> Check:
        subject = self.mark_subject()
        is_answer = self.path == DEFAULT_PATH
        query = None if is_answer else compile_query(self.path, "path")
        read: Callable[[Trace], Any] = answer_of if query is None else build_getter(query)
        missing = "the trace has no final answer" if query is None else f"{subject}: {FOUND_NOTHING}"
        nothing = Finding("not_evaluable", missing)

        def check(trace: Trace) -> Finding:
            try:
                text = read(trace)
                if text is None:
                    return nothing
                if not isinstance(text, str):
                    return Finding("failed", f"expected {subject} to be text, got {mark_part(show_typed(text))}")
                return judge(text)
            except (QueryFailedError, PatternFailedError, TooLongError) as error:
                return Finding("error", f"{subject}: {error}")

        return check if query is None else require_evidence(check, query_evidence(query))


class TextCondition(TextEvaluator):
    """A check of the text that only passes or fails, without a score."""

    @abstractmethod
    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a function that returns what a text fails (`to contain X, got Y`); raises FieldProblemError."""

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds the judge from the condition."""
        return self._judge_by(self.build_condition())

    def _judge_by(self, find_problem: Callable[[str], str | None]) -> Callable[[str], Finding]:
        passed, subject = Finding("passed", self.label()), self.mark_subject()

        def judge(text: str) -> Finding:
            problem = find_problem(text)
            return passed if problem is None else Finding("failed", f"expected {subject} {problem}")

        return judge


class TextComparison(TextCondition):
    """A check that compares a text with others, all composed (NFC); `compared` is the field with the others.

    In what was said, and where the check must not pass, typographic blanks, hyphens and apostrophes count as plain
    ones. Where it must not pass, characters that can't be seen do not hide a match.
    """

    version = 3  # 2: NFC, and what can't be seen where the check is negated; 3: typographic signs are plain ones
    compared: ClassVar[str] = "value"

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds the judge of the text as it is written."""
        prepare = (choose_forms(self._list_wanted()) if finds_prose(self.path) else EXACT).written
        judge = self._build_judge_of(prepare)
        return lambda text: judge(text if text.isascii() else prepare(text))

    def build_opposite_judge(self) -> Callable[[str], Finding]:
        """Builds a judge that a text also passes if it does as it is seen."""
        exact, wanted = self.build_judge(), self._list_wanted()
        prepare, is_plain = choose_forms(wanted).seen, all(map(str.isascii, wanted))
        bare = self._build_judge_of(prepare)

        def judge(text: str) -> Finding:
            found = exact(text)
            return found if found.outcome == "passed" or (is_plain and text.isascii()) else bare(prepare(text))

        return judge

    def _list_wanted(self) -> list[str]:
        written = getattr(self, self.compared)
        return [written] if isinstance(written, str) else written

    def _build_judge_of(self, prepare: Callable[[str], str]) -> Callable[[str], Finding]:
        written = getattr(self, self.compared)
        prepared = prepare(written) if isinstance(written, str) else [prepare(each) for each in written]
        judge = self if prepared == written else self.model_copy(update={self.compared: prepared})
        return TextCondition.build_judge(judge)


def quote(text: str) -> str:
    """Quotes the text for the end of a reason."""
    return mark_text(text, 120)


Part = Annotated[str, Field(min_length=1)]
Wanted = Annotated[Part, described("The text to look for.", "refunded")]
Parts = Annotated[
    list[Part],
    Field(min_length=1, max_length=1_000),
    described("The texts to look for.", ["refund", "30 days"]),
]


def _build_condition(holds: Callable[[str], bool], problem: str) -> Callable[[str], str | None]:
    return lambda text: None if holds(text) else f"{problem}, got {quote(text)}"


def _quote_field(value: Any) -> str:
    return _format_parts(value, 20) if isinstance(value, list) else show(value, 60)


def _format_parts(parts: Sequence[str], limit: int, show: Callable[[str, int], str] = show) -> str:
    left = len(parts) - 3
    return ", ".join(show(part, limit) for part in parts[:3]) + (f" and {left} more" if left > 0 else "")


class Equals(TextComparison):
    """The text equals `value`, character by character."""

    type: Literal["equals"]
    other_names = ("exact-match", "exactmatch", "exact")
    value: Annotated[str, described("The whole text.", "yes")]
    words = "equals {value}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the actual text."""
        value = self.value
        return lambda text: (
            None
            if text == value
            else f"to equal {mark_value(value)}, got {quote(text)}{_describe_difference(text, value)}"
        )


def _describe_difference(text: str, value: str) -> str:
    """Describes a difference between two texts that a reader could miss."""
    if text.strip() == value.strip():
        return " (only whitespace at the ends differs)"
    if text.casefold() == value.casefold():
        return " (only upper and lower case differ)"
    return ""


class StartsWith(TextComparison):
    """The text begins with `value`."""

    type: Literal["starts_with"]
    orders: ClassVar[dict[str, Order]] = {"value": "beginning"}
    value: Wanted
    words = "starts with {value}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the text."""
        value = self.value
        return _build_condition(lambda text: text.startswith(value), f"to start with {mark_value(value)}")


class EndsWith(TextComparison):
    """The text ends with `value`."""

    type: Literal["ends_with"]
    orders: ClassVar[dict[str, Order]] = {"value": "end"}
    value: Wanted
    words = "ends with {value}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the end of the text."""
        value = self.value
        length = len(value) + 60
        return lambda text: (
            None if text.endswith(value) else f"to end with {mark_value(value)}, got {quote(text[-length:])} at the end"
        )


class Contains(TextComparison):
    """The text contains `value`."""

    type: Literal["contains"]
    orders: ClassVar[dict[str, Order]] = {"value": "part"}
    value: Wanted
    words = "contains {value}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the text."""
        value = self.value
        return _build_condition(lambda text: value in text, f"to contain {mark_value(value)}")


class IContains(TextComparison):
    """The text contains `value`, ignoring case."""

    type: Literal["icontains"]
    orders: ClassVar[dict[str, Order]] = {"value": "part_in_any_case"}
    value: Wanted
    words = "contains {value} in any case"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the text."""
        value = self.value.casefold()
        problem = f"to contain {mark_value(self.value)} in any case"
        return _build_condition(lambda text: value in text.casefold(), problem)


class ContainsAll(TextComparison):
    """The text contains each of `values`."""

    type: Literal["contains_all"]
    compared = "values"
    orders: ClassVar[dict[str, Order]] = {"values": "all_parts"}
    values: Parts
    words = "contains all of {values}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that lists what is missing."""
        values = self.values

        def find_problem(text: str) -> str | None:
            missing = [value for value in values if value not in text]
            return f"to contain {_format_parts(missing, 60, mark_value)}, got {quote(text)}" if missing else None

        return find_problem


class ContainsAny(TextComparison):
    """The text contains at least one of `values`."""

    type: Literal["contains_any"]
    compared = "values"
    orders: ClassVar[dict[str, Order]] = {"values": "any_part"}
    values: Parts
    words = "contains any of {values}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that lists what was searched for."""
        values = self.values
        problem = f"to contain any of {_format_parts(values, 60, mark_value)}"
        return _build_condition(lambda text: any(value in text for value in values), problem)


class Regex(TextComparison):
    """The regular expression `pattern` matches somewhere in the text."""

    type: Literal["regex"]
    compared = "pattern"
    pattern: Annotated[str, Field(min_length=1), described("A regular expression.", "refund(ed)?")]

    def build_judge(self) -> Callable[[str], Finding]:
        """Builds the judge of the composed text: a pattern says itself which blanks and hyphens it means."""
        judge = self._build_judge_of(compose)
        return lambda text: judge(compose(text))

    def build_opposite_judge(self) -> Callable[[str], Finding]:
        """Builds a judge that a text also passes if it does as it is seen, with plain blanks or with its own."""
        judges = [(compose, self.build_judge()), *((form, self._build_judge_of(remove_unseen)) for form in SEEN)]

        def judge(text: str) -> Finding:
            found = [check(prepare(text)) for prepare, check in judges[: 1 if text.isascii() else None]]
            return next((each for each in found if each.outcome == "passed"), found[0])

        return judge

    def holds_always(self) -> bool:
        """Whether the pattern matches every text."""
        return matches_all(self.pattern)

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"matches /{self._format_pattern(60)}/"

    def _format_pattern(self, limit: int) -> str:
        return shorten(" ".join(self.pattern.splitlines()), limit)

    def build_condition(self) -> Callable[[str], str | None]:
        """Compiles the pattern; raises FieldProblemError."""
        pattern = compile_pattern(self.pattern, "pattern")
        shown = mark_part(f"/{self._format_pattern(80)}/")
        return lambda text: None if pattern.is_found_in(text) else f"to match {shown}, got {quote(text)}"


class NotEmpty(TextCondition):
    """The text contains a character that can be seen."""

    type: Literal["not_empty"]
    version = 2  # a character that can be seen, not only one that is no blank
    words = "is not empty"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes an empty or blank text."""
        return lambda text: None if is_visible(text) else f"not to be empty, got {quote(text)}"


class MaxLength(TextCondition):
    """The text has at most `max` characters."""

    type: Literal["max_length"]
    orders: ClassVar[dict[str, Order]] = {"max": "at_most"}
    no_limit: ClassVar = {"max": 1e8}
    max: Annotated[Count, described("The maximum number of characters.", 500)]
    words = "has at most {max} characters"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that states the length."""
        most, noun = self.max, _pluralize(self.max)
        return lambda text: None if len(text) <= most else f"to have at most {most} {noun}, got {len(text)}"


class MinLength(TextCondition):
    """The text has at least `min` characters."""

    type: Literal["min_length"]
    orders: ClassVar[dict[str, Order]] = {"min": "at_least"}
    min: Annotated[Count, described("The minimum number of characters.", 20)]
    words = "has at least {min} characters"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that states the length and quotes the text, which is short."""
        least, noun = self.min, _pluralize(self.min)
        return lambda text: (
            None if len(text) >= least else f"to have at least {least} {noun}, got {len(text)}: {quote(text)}"
        )


def _pluralize(length: int) -> str:
    return "character" if length == 1 else "characters"


class IsJson(TextCondition):
    """The whole text is one JSON value, and fits the JSON Schema `schema` (2020-12) if one is given."""

    type: Literal["is_json"]
    version = 2  # a schema judges formats, and the type that its keywords are about
    other_names = ("json", "json-schema", "valid-json")
    orders: ClassVar[dict[str, Order]] = {"schema_": "equal_if_given"}
    schema_: Annotated[
        dict[str, Any] | bool | None,
        Field(alias="schema"),
        described("A JSON Schema (2020-12) that the value must fit.", {"type": "object"}),
    ] = None

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return "is JSON" if self.schema_ is None else "is JSON that fits its schema"

    def build_condition(self) -> Callable[[str], str | None]:
        """Compiles the schema; raises FieldProblemError."""
        return self._build_condition(is_strict=True)

    def build_opposite_judge(self) -> Callable[[str], Finding]:
        """Builds a judge that a value also passes where the schema judges nothing of its type."""
        return self._judge_by(self._build_condition(is_strict=False))

    def _build_condition(self, *, is_strict: bool) -> Callable[[str], str | None]:
        schema = self._compile_schema(is_strict=is_strict)

        def find_problem(text: str) -> str | None:
            try:
                value = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                return f"to be JSON, got invalid JSON{_describe_place(text, error)}: {quote(text)}"
            difference = schema.first_difference(value) if schema else None
            return None if difference is None else f"to fit the schema, but {difference}: {quote(text)}"

        return find_problem

    def _compile_schema(self, *, is_strict: bool) -> Schema | None:
        from evalgate.evaluators.core.suite_schemas import compile_schema  # only if a suite has schemas

        schema = self.schema_
        if schema is None:
            return None
        return compile_schema(schema, "schema", f": {show_typed(schema, 60)}", is_strict=is_strict)


def _describe_place(text: str, error: orjson.JSONDecodeError) -> str:
    """Describes where parsing failed, and the most frequent cause."""
    if not text.strip():
        return " (empty text)"
    fence = ", in a code fence" if text.lstrip().startswith("```") else ""
    return f" (line {error.lineno}, column {error.colno}{fence})"
