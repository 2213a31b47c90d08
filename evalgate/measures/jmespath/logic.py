"""Truth, equality and order as JMESPath defines them, with the work of long values counted."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.measures.jmespath.budget import QueryBudget

    Step = Callable[[Any], Any]
    Compare = Callable[[Any, Any], Any]

NUMBERS = frozenset({int, float})
COMPARABLE = frozenset({int, float, str})
ORDERS: dict[str, Compare] = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}


def is_falsy(value: Any) -> bool:
    """Returns whether the value is null, false, or empty text, list or object; 0 is true."""
    return not value and type(value) not in NUMBERS


def build_equality(budget: QueryBudget) -> Compare:
    """Builds `==`: true is not 1, false is not 0 (but within lists and objects they are)."""

    def equals(left: Any, right: Any) -> bool:
        kind = type(left)
        if kind is not type(right):
            return bool(left == right) and kind is not bool and type(right) is not bool
        if kind is str or kind is list or kind is dict:
            if len(left) != len(right):
                return False
            budget.spend_on_value(left)
        return bool(left == right)

    return equals


def build_literal_equality(find: Step, literal: Any, budget: QueryBudget) -> Step:
    """Builds `==` with a literal of the expression."""
    if literal is None or isinstance(literal, bool):
        return lambda value: find(value) is literal
    if isinstance(literal, str):
        return lambda value: find(value) == literal
    equals = build_equality(budget)
    return lambda value: equals(find(value), literal)


def build_field_equality(name: str, text: str) -> Step:
    """Builds `name == 'text'`, as in most filters."""

    def step(value: Any) -> Any:
        try:
            return value.get(name) == text
        except AttributeError:
            return False

    return step


def build_ordering(name: str, budget: QueryBudget) -> Compare:
    """Builds `<` and the like: None unless both are number or text; a number and a text raise TypeError."""
    compare, spend_on_text = ORDERS[name], budget.spend_on_text

    def compare_values(left: Any, right: Any) -> Any:
        if type(left) not in COMPARABLE or type(right) not in COMPARABLE:
            return None
        if type(left) is str:
            spend_on_text(left)
        return compare(left, right)

    return compare_values


def build_number_ordering(name: str, find: Step, limit: float) -> Step:
    """Builds the same with a number literal of the expression."""
    compare = ORDERS[name]

    def step(value: Any) -> Any:
        found = find(value)
        return compare(found, limit) if type(found) in COMPARABLE else None

    return step
