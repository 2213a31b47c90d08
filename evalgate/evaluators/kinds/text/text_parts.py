"""Checks that a text equals, starts with, ends with or contains other texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evalgate.evaluators.kinds.text.text_source import TextCondition, quote
from evalgate.measures.values.json_values import show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Part = Annotated[str, Field(min_length=1)]
Parts = Annotated[list[Part], Field(min_length=1, max_length=1_000)]


def _build_condition(holds: Callable[[str], bool], problem: str) -> Callable[[str], str | None]:
    return lambda text: None if holds(text) else f"{problem}, got {quote(text)}"


def _format_parts(parts: Sequence[str], limit: int) -> str:
    left = len(parts) - 3
    return ", ".join(show(part, limit) for part in parts[:3]) + (f" and {left} more" if left > 0 else "")


class Equals(TextCondition):
    """The text equals `value`, character by character."""

    type: Literal["equals"]
    value: str

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"equals {show(self.value, 60)}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the actual text."""
        value = self.value
        return lambda text: (
            None if text == value else f"to equal {show(value)}, got {quote(text)}{_describe_difference(text, value)}"
        )


def _describe_difference(text: str, value: str) -> str:
    """Describes a difference between two texts that a reader could miss."""
    if text.strip() == value.strip():
        return " (only whitespace at the ends differs)"
    if text.casefold() == value.casefold():
        return " (only upper and lower case differ)"
    return ""


class StartsWith(TextCondition):
    """The text begins with `value`."""

    type: Literal["starts_with"]
    value: Part

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"starts with {show(self.value, 60)}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the text."""
        value = self.value
        return _build_condition(lambda text: text.startswith(value), f"to start with {show(value)}")


class EndsWith(TextCondition):
    """The text ends with `value`."""

    type: Literal["ends_with"]
    value: Part

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"ends with {show(self.value, 60)}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the end of the text."""
        value = self.value
        length = len(value) + 60
        return lambda text: (
            None if text.endswith(value) else f"to end with {show(value)}, got {quote(text[-length:])} at the end"
        )


class Contains(TextCondition):
    """The text contains `value`."""

    type: Literal["contains"]
    value: Part

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"contains {show(self.value, 60)}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the text."""
        value = self.value
        return _build_condition(lambda text: value in text, f"to contain {show(value)}")


class IContains(TextCondition):
    """The text contains `value`, ignoring case."""

    type: Literal["icontains"]
    value: Part

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"contains {show(self.value, 60)} in any case"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that quotes the text."""
        value = self.value.casefold()
        problem = f"to contain {show(self.value)} in any case"
        return _build_condition(lambda text: value in text.casefold(), problem)


class ContainsAll(TextCondition):
    """The text contains each of `values`."""

    type: Literal["contains_all"]
    values: Parts

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"contains all of {_format_parts(self.values, 20)}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that lists what is missing."""
        values = self.values

        def find_problem(text: str) -> str | None:
            missing = [value for value in values if value not in text]
            return f"to contain {_format_parts(missing, 60)}, got {quote(text)}" if missing else None

        return find_problem


class ContainsAny(TextCondition):
    """The text contains at least one of `values`."""

    type: Literal["contains_any"]
    values: Parts

    def requirement(self) -> str:
        """Returns the requirement in words."""
        return f"contains any of {_format_parts(self.values, 20)}"

    def build_condition(self) -> Callable[[str], str | None]:
        """Builds a condition that lists what was searched for."""
        values = self.values
        problem = f"to contain any of {_format_parts(values, 60)}"
        return _build_condition(lambda text: any(value in text for value in values), problem)
