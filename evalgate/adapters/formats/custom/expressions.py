"""Evaluates the expressions of a suite; errors name the expression and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from evalgate.adapters.formats.core.fields import FieldError, keys_of
from evalgate.adapters.formats.core.strict_json import shown
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

    __slots__ = ("_group", "_place", "_queries", "_value")

    def __init__(self, queries: Mapping[str, Query], value: Any, group: str = "", place: str = "") -> None:
        self._queries, self._value = queries, value
        self._group, self._place = group, place

    def says(self, name: str) -> bool:
        """True if the suite has an expression for the field."""
        return name in self._queries

    def get(self, name: str, check: Callable[[Any, str], Checked | None]) -> Checked | None:
        """The value the expression finds, checked; None if there is no expression or it finds nothing."""
        query = self._queries.get(name)
        if query is None:
            return None
        where = f"{label(f'{self._group}{name}', query)}{self._place}"
        value = find(query, self._value, where)
        return None if value is None else checked(value, check, where)

    def required(self, name: str, check: Callable[[Any, str], Checked | None]) -> Checked:
        """Like `get`, for a field with an expression; raises FieldError if it finds nothing."""
        value = self.get(name, check)
        if value is None:
            raise FieldError(f"{label(f'{self._group}{name}', self._queries[name])}{self._place}", NOTHING)
        return value


def label(name: str, query: Query) -> str:
    """An expression for an error: its location in the suite and its text."""
    return f"custom.{name} (`{shown(query.expression)}`)"


def find(query: Query, value: Any, where: str) -> Any:
    """The value an expression finds; raises FieldError if it fails on this value."""
    try:
        return query.search_value(value)
    except QueryFailedError as error:
        raise FieldError(where, f"fails: {error}") from None


def checked(value: Any, check: Callable[[Any, str], Checked], where: str) -> Checked:
    """Checks the value with `check`; raises FieldError that says what was found."""
    try:
        return check(value, where)
    except FieldError as error:
        raise FieldError(error.path, f"{error.problem}, it found {told(value)}") from None


def anything(value: Any, path: str) -> Any:
    """Accepts any value."""
    del path
    return value


def told(value: Any) -> str:
    """A short description of a value for an error."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"`{shown(value)}`"
    if isinstance(value, int | float):
        return f"{value:g}"
    return keys_of(value)
