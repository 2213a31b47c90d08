"""Operators of a query: each checks its own value, and then judges what the query found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from evalgate.evaluators.core.field_problems import FieldProblemError, suggest
from evalgate.measures.text.patterns import Pattern, PatternError
from evalgate.measures.text.plain_text import mark_part
from evalgate.measures.values.json_values import (
    ALIASES,
    COMPARE,
    as_number,
    json_equal,
    json_type,
    mark_text,
    mark_value,
    shorten,
    show,
    show_typed,
)

Operator = Literal[
    "eq", "ne", "gt", "gte", "lt", "lte", "contains", "regex", "exists", "in", "not_in", "length", "matches_schema"
]
Alias = Literal["le", "ge"]
"""Other names of operators."""
OPERATORS: tuple[str, ...] = get_args(Operator)

ValueCheck = Callable[[Any], str | None]
"""Returns what a found value fails (`to be 3, got 4`), None if nothing.

A pattern search that exceeds its limit is an error, never a failure: it raises PatternFailedError.
"""

MEANINGS: dict[str, tuple[str, Any]] = {
    "eq": ("Equal to this value.", 3),
    "ne": ("Not equal to this value.", 0),
    "gt": ("Greater than this number.", 0),
    "gte": ("At least this number.", 1),
    "lt": ("Less than this number.", 5),
    "lte": ("At most this number.", 3),
    "contains": ("Contains this text or element.", "refunded"),
    "regex": ("Matches this regular expression.", "^OK"),
    "exists": ("Whether the expression finds something.", True),
    "in": ("One of these values.", ["stop", "end_turn"]),
    "not_in": ("None of these values.", ["error"]),
    "length": ("The length compares to numbers.", {"lte": 3}),
    "matches_schema": ("Fits this JSON Schema (2020-12).", {"type": "object"}),
}
"""What the value of each operator means, with an example: what the schemas and editors show."""
_SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def resolve_alias(operator: Any) -> Any:
    """Returns the operator that an alias means; other values unchanged."""
    return ALIASES.get(operator, operator) if isinstance(operator, str) else operator


def sign(operator: str) -> str:
    """Returns the operator as people write it, such as `>=`."""
    return _SIGNS.get(operator, operator)


def build_value_check(operator: str, value: Any) -> ValueCheck:
    """Builds the check of an operator. Raises FieldProblemError on `value`."""
    return _BUILDERS[operator](value)


def mark_typed(value: Any) -> str:
    """Shows a value with its type, as a part of a sentence."""
    return mark_part(show_typed(value))


def _build_order(operator: str) -> Callable[[Any], ValueCheck]:
    compare = COMPARE[operator]

    def build(value: Any) -> ValueCheck:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise FieldProblemError("value", f"`{operator}` compares with a number, not {show_typed(value, 40)}")

        def judge(actual: Any) -> str | None:
            number = actual if type(actual) is int else as_number(actual)
            if number is None:
                return f"to be a number, got {mark_typed(actual)}"
            if compare(number, value):
                return None
            return f"{sign(operator)} {mark_value(value)}, got {mark_value(actual)}"

        return judge

    return build


def _build_eq(value: Any) -> ValueCheck:
    if isinstance(value, str):  # the most common case; text equals only the same text
        return lambda actual: None if actual == value else f"to be {mark_value(value)}, got {mark_value(actual)}"
    return lambda actual: None if json_equal(actual, value) else f"to be {mark_value(value)}, got {mark_value(actual)}"


def _build_ne(value: Any) -> ValueCheck:
    return lambda actual: f"to be any other value, got {mark_value(actual)}" if json_equal(actual, value) else None


def _build_contains(value: Any) -> ValueCheck:
    def judge(actual: Any) -> str | None:
        if isinstance(actual, list):
            right = any(json_equal(member, value) for member in actual)
        elif isinstance(actual, str | dict):
            right = isinstance(value, str) and value in actual
        else:
            return f"to be text, a list or an object, got {mark_typed(actual)}"
        key = "the key " if isinstance(actual, dict) else ""
        return None if right else f"to contain {key}{mark_value(value)}, got {mark_text(actual)}"

    return judge


def _build_regex(value: Any) -> ValueCheck:
    if not isinstance(value, str):
        raise FieldProblemError("value", f"`regex` takes a pattern as text, not {json_type(value)}")
    pattern = compile_pattern(value, "value")

    def judge(actual: Any) -> str | None:
        if not isinstance(actual, str):
            return f"to be text, got {mark_typed(actual)}"
        if pattern.is_found_in(actual):
            return None
        return f"to match {mark_part(f'/{shorten(value)}/')}, got {mark_text(actual)}"

    return judge


def compile_pattern(source: str, field: str) -> Pattern:
    """Compiles a pattern of the suite; raises FieldProblemError on `field` if that fails."""
    try:
        return Pattern(source)
    except PatternError as error:
        place = f" (character {error.position})" if error.position else ""
        raise FieldProblemError(field, f"{error}{place}: {show(source, 60)}") from None


def _require_list(value: Any, operator: str) -> list[Any]:
    if not isinstance(value, list):
        raise FieldProblemError("value", f"`{operator}` takes a list, not {show_typed(value, 40)}")
    return value


def _build_in(value: Any) -> ValueCheck:
    members = _require_list(value, "in")
    return lambda actual: (
        None
        if any(json_equal(actual, member) for member in members)
        else f"to be one of {mark_value(value)}, got {mark_value(actual)}"
    )


def _build_not_in(value: Any) -> ValueCheck:
    members = _require_list(value, "not_in")
    if not members:
        raise FieldProblemError("value", "`not_in: []` holds for every value", "list the values that must not occur")
    return lambda actual: (
        f"to be none of {mark_value(value)}, got {mark_value(actual)}"
        if any(json_equal(actual, member) for member in members)
        else None
    )


def _build_length(value: Any) -> ValueCheck:
    bounds = value if isinstance(value, dict) else {"eq": value}
    if not bounds:
        raise FieldProblemError(
            "value", "`length` takes a number or bounds such as {gte: 1, lte: 3}, not an empty mapping"
        )
    known = {*_SIGNS, *ALIASES}
    for name in bounds:
        if name not in known:
            raise FieldProblemError("value", f"`length` has no bound {show(name)}", suggest(name, known))
    for limit in bounds.values():
        if isinstance(limit, bool) or not isinstance(limit, int | float):
            raise FieldProblemError("value", f"`length` compares with a number, not {show_typed(limit, 40)}")
    judges = [build_value_check(resolve_alias(name), limit) for name, limit in bounds.items()]

    def judge(actual: Any) -> str | None:
        if not isinstance(actual, str | list | dict):
            return f"to be text, a list or an object, got {mark_typed(actual)}"
        size = len(actual)
        return f"to have length {mark_value(value)}, got {size}" if any(each(size) for each in judges) else None

    return judge


def build_schema_check(value: Any, *, is_strict: bool = True) -> ValueCheck:
    """Builds the check of `matches_schema`; not strict where it must not pass. Raises FieldProblemError on `value`."""
    if not isinstance(value, dict | bool):
        raise FieldProblemError("value", f"`matches_schema` takes a JSON Schema, not {json_type(value)}")
    from evalgate.evaluators.core.suite_schemas import compile_schema  # only if a suite has schemas

    schema = compile_schema(value, "value", is_strict=is_strict)

    def judge(actual: Any) -> str | None:
        difference = schema.first_difference(actual)
        return None if difference is None else f"to fit the schema, got {mark_value(actual)}: {difference}"

    return judge


def _build_exists(value: Any) -> ValueCheck:
    if not isinstance(value, bool):
        raise FieldProblemError("value", f"`exists` takes true or false, not {show_typed(value, 40)}")
    expected = "to exist" if value else "not to exist"
    return lambda actual: None if (actual is not None) is value else f"{expected}, got {mark_value(actual)}"


_BUILDERS: dict[str, Callable[[Any], ValueCheck]] = {
    "eq": _build_eq,
    "ne": _build_ne,
    **{name: _build_order(name) for name in ("gt", "gte", "lt", "lte")},
    "contains": _build_contains,
    "regex": _build_regex,
    "exists": _build_exists,
    "in": _build_in,
    "not_in": _build_not_in,
    "length": _build_length,
    "matches_schema": build_schema_check,
}
