"""Evaluates the expressions of a suite; errors name the expression and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from evalgate.adapters.formats.core.fields import FieldError, describe_shape
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.measures.jmespath.query import QueryFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.measures.jmespath.query import Query

Checked = TypeVar("Checked")
NOTHING = "finds nothing"


class FieldExpression:
    """Evaluates several expressions on one value: a run, a message or a call.

    For errors: `location` is the value's location in its run, `group` that of its expressions in `custom`.
    """

    __slots__ = ("_group", "_location", "_queries", "_value")

    def __init__(self, queries: Mapping[str, Query], value: Any, group: str = "", location: str = "") -> None:
        self._queries, self._value = queries, value
        self._group, self._location = group, location

    def has_expression(self, name: str) -> bool:
        """True if the suite has an expression for the field."""
        return name in self._queries

    def get(self, name: str, check: Callable[[Any, str], Checked | None]) -> Checked | None:
        """The value the expression finds, checked; None if there is no expression or it finds nothing."""
        query = self._queries.get(name)
        if query is None:
            return None
        where = f"{describe_expression(f'{self._group}{name}', query)}{self._location}"
        value = find_value(query, self._value, where)
        return None if value is None else check_value(value, check, where)

    def get_required(self, name: str, check: Callable[[Any, str], Checked | None]) -> Checked:
        """Like `get`, for a field with an expression; raises FieldError if it finds nothing."""
        value = self.get(name, check)
        if value is None:
            raise FieldError(
                f"{describe_expression(f'{self._group}{name}', self._queries[name])}{self._location}", NOTHING
            )
        return value


def describe_expression(name: str, query: Query) -> str:
    """An expression for an error: its location in the suite and its text."""
    return f"custom.{name} (`{make_printable(query.expression)}`)"


def find_value(query: Query, value: Any, where: str) -> Any:
    """The value an expression finds; raises FieldError if it fails on this value."""
    try:
        return query.search_value(value)
    except QueryFailedError as error:
        raise FieldError(where, f"fails: {error}") from None


def check_value(value: Any, check: Callable[[Any, str], Checked], where: str) -> Checked:
    """Checks the value with `check`; raises FieldError that says what was found."""
    try:
        return check(value, where)
    except FieldError as error:
        raise FieldError(error.path, f"{error.problem}: it found {describe_value(value)}") from None


def describe_value(value: Any) -> str:
    """A short description of a value for an error."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"`{make_printable(value)}`"
    if isinstance(value, int | float):
        return f"{value:g}"
    return describe_shape(value)
