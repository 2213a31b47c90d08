"""Checks of a text as a whole: a pattern, its length, JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import orjson
from pydantic import Field

from evalgate.evaluators.core.evaluator import Order
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.operators import compile_pattern
from evalgate.evaluators.kinds.text.text_source import TextCondition, quote
from evalgate.measures.values.json_values import Schema, SchemaError, shorten, show_typed

if TYPE_CHECKING:
    from collections.abc import Callable

Length = Annotated[int, Field(ge=0)]


class Regex(TextCondition):
    """The regular expression `pattern` matches somewhere in the text."""

    type: Literal["regex"]
    pattern: Annotated[str, Field(min_length=1)]

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"matches /{self._format_pattern(60)}/"

    def _format_pattern(self, limit: int) -> str:
        return shorten(" ".join(self.pattern.splitlines()), limit)

    def build_condition(self) -> Callable[[str], str | None]:
        """Compiles the pattern; raises FieldProblemError."""
        pattern = compile_pattern(self.pattern, "pattern")
        shown = self._format_pattern(80)
        return lambda text: None if pattern.is_found_in(text) else f"to match /{shown}/, got {quote(text)}"


class NotEmpty(TextCondition):
    """The text contains something other than blanks."""

    type: Literal["not_empty"]

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return "is not empty"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes an empty or blank text."""
        return lambda text: None if text.strip() else f"not to be empty, got {quote(text)}"


class MaxLength(TextCondition):
    """The text has at most `max` characters."""

    type: Literal["max_length"]
    orders: ClassVar[dict[str, Order]] = {"max": "at_most"}
    max: Length

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"has at most {self.max} characters"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that states the length."""
        most, noun = self.max, _pluralize(self.max)
        return lambda text: None if len(text) <= most else f"to have at most {most} {noun}, got {len(text)}"


class MinLength(TextCondition):
    """The text has at least `min` characters."""

    type: Literal["min_length"]
    orders: ClassVar[dict[str, Order]] = {"min": "at_least"}
    min: Length

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"has at least {self.min} characters"

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
    schema_: Annotated[dict[str, Any] | bool | None, Field(alias="schema")] = None

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return "is JSON" if self.schema_ is None else "is JSON that fits its schema"

    def build_condition(self) -> Callable[[str], str | None]:
        """Compiles the schema; raises FieldProblemError."""
        schema = self._compile_schema()

        def find_problem(text: str) -> str | None:
            try:
                value = orjson.loads(text)
            except orjson.JSONDecodeError as error:
                return f"to be JSON, got invalid JSON{_describe_place(text, error)}: {quote(text)}"
            difference = schema.first_difference(value) if schema else None
            return None if difference is None else f"to fit the schema, but {difference}: {quote(text)}"

        return find_problem

    def _compile_schema(self) -> Schema | None:
        try:
            return None if self.schema_ is None else Schema(self.schema_)
        except SchemaError as error:
            raise FieldProblemError("schema", f"{error}: {show_typed(self.schema_, 60)}") from None


def _describe_place(text: str, error: orjson.JSONDecodeError) -> str:
    """Describes where parsing failed, and the most frequent cause."""
    if not text.strip():
        return " (empty text)"
    fence = ", in a code fence" if text.lstrip().startswith("```") else ""
    return f" (line {error.lineno}, column {error.colno}{fence})"
