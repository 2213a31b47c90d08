"""The library's interpreter and functions, for expressions that are not compiled, with their work counted.

Elements, characters and time are bounded, where work can multiply.
"""

from __future__ import annotations

from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

from jmespath import functions, visitor

from evalgate.measures.values.json_values import COMPARE, decode_json_text, read_amount

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_ELEMENTS = 1_000_000
MAX_SECONDS = 1.0
LONG_TEXT = 1_000
"""Characters up to which a text costs no more than any other element."""


class QueryFailedError(ValueError):
    """A valid expression failed on this input: a wrong type for a function, or too much work."""


class UnsureQueryError(QueryFailedError):
    """What an expression finds depends on whether text that is a number is one beside a number."""


class QueryBudget:
    """The rest of the budget of one search; every 16 characters of a long text count as one element."""

    __slots__ = ("_deadline", "_left")

    def reset(self) -> None:
        """Restores the whole budget for a new search."""
        self._left = MAX_ELEMENTS
        self._deadline = 0.0

    def spend(self, elements: int) -> None:
        """Counts work before it is done; raises QueryFailedError if it is too much or takes too long."""
        before = self._left
        self._left = left = before - elements
        if left >> 12 != before >> 12:
            self._check_time()

    def spend_on_text(self, text: str) -> None:
        """Counts reading the whole of a text."""
        if len(text) > LONG_TEXT:
            self.spend(len(text) >> 4)

    def spend_on_value(self, value: Any) -> None:
        """Counts everything within a value, as often as it occurs.

        A few selections can build a value that shares the same parts many times: small in memory, but almost
        endless to traverse.
        """
        rest = [value]
        while rest:
            node = rest.pop()
            if type(node) is str:
                self.spend_on_text(node)
            elif type(node) is list:
                self.spend(len(node))
                rest += node
            elif type(node) is dict:
                self.spend(2 * len(node))
                rest += node
                rest += node.values()

    def _check_time(self) -> None:
        now = monotonic()
        self._deadline = self._deadline or now + MAX_SECONDS
        if self._left < 0 or now > self._deadline:
            raise QueryFailedError(f"the expression needs more than {MAX_ELEMENTS:,} elements or {MAX_SECONDS:g} s")


def require_finite(value: Any) -> Any:
    """Returns the value; raises QueryFailedError for NaN and infinity, such as to_number('NaN')."""
    if isinstance(value, float) and not isfinite(value):
        raise QueryFailedError("the expression produces a number that is not finite")
    return value


_SIZED = frozenset({str, list, dict})
_DEEP_FUNCTIONS = frozenset({"contains", "join", "max", "min", "sort", "to_string"})
"""Functions that read more than the direct members of a list."""


class Functions(functions.Functions):
    """The library's functions, counted; a result of NaN or infinity raises QueryFailedError."""

    def __init__(self, budget: QueryBudget) -> None:
        super().__init__()
        self._budget = budget

    def call_function(self, function_name: str, resolved_args: Any) -> Any:
        """Calls one function. Raises what the library raises, and QueryFailedError."""
        budget = self._budget
        count = budget.spend_on_value if function_name in _DEEP_FUNCTIONS else self._spend_on
        for argument in resolved_args:
            count(argument)
        result = require_finite(super().call_function(function_name, resolved_args))
        self._spend_on(result)
        return result

    def _spend_on(self, value: Any) -> None:
        if type(value) is str:
            self._budget.spend(1 + (len(value) >> 4))
        else:
            self._budget.spend(1 + len(value) if type(value) in _SIZED else 1)


class Interpreter(visitor.TreeInterpreter):
    """Walks the tree of the expression in every search; each visit is spent from `budget`."""

    def __init__(self, budget: QueryBudget, functions: Functions) -> None:
        super().__init__(visitor.Options(custom_functions=functions))
        self._budget = budget
        # Of this instance only. The library lets values of all kinds through to those that it takes for equality.
        self.COMPARATOR_FUNC = build_comparisons(budget)  # type: ignore[misc]
        self._EQUALITY_OPS = [*self.COMPARATOR_FUNC]

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the value of one node. Raises QueryFailedError and what the library raises."""
        value = require_finite(super().visit(node, *args, **kwargs))
        size = len(value) if isinstance(value, list) else len(value) >> 4 if isinstance(value, str) else 0
        self._budget.spend(1 + size)
        return value

    def visit_flatten(self, node: Any, value: Any) -> Any:
        """Flattens a list by one level, and counts its members before the new list is built."""
        members = self.visit(node["children"][0], value)
        if not isinstance(members, list) or list not in map(type, members):
            return members if isinstance(members, list) else None
        self._budget.spend(sum(len(each) for each in members if isinstance(each, list)))
        return [inner for each in members for inner in (each if isinstance(each, list) else [each])]

    def visit_json_text(self, node: Any, value: Any) -> Any:
        """Decodes a text that may be JSON."""
        found = self.visit(node["children"][0], value)
        if type(found) is str:
            self._budget.spend_on_text(found)
        return decode_json_text(found)


ORDERS = ("lt", "lte", "gt", "gte")
AS_NUMBERS = " as numbers"
"""The end of the name of a comparison for which text that is a number is one beside a number."""


def build_comparisons(budget: QueryBudget) -> dict[str, Callable[[Any, Any], bool | None]]:
    """The comparisons of JMESPath by name, each as it is and with text that is a number as one."""
    equals = build_equality(budget)
    plain: dict[str, Callable[[Any, Any], bool | None]] = {
        "eq": equals,
        "ne": lambda left, right: not equals(left, right),
        **{name: build_ordering(name) for name in ORDERS},
    }
    return plain | {f"{name}{AS_NUMBERS}": _take_numbers(name, compare) for name, compare in plain.items()}


def _take_numbers(name: str, compare: Callable[[Any, Any], bool | None]) -> Callable[[Any, Any], bool | None]:
    def compares(left: Any, right: Any) -> bool | None:
        numbers = [read_amount(each) if type(each) is str else each for each in (left, right)]
        is_of_texts = type(left) is type(right) is str and name not in ORDERS
        are_numbers = not is_of_texts and type(numbers[0]) in NUMBERS and type(numbers[1]) in NUMBERS
        return compare(*numbers) if are_numbers else compare(left, right)

    return compares


def build_ordering(name: str) -> Callable[[Any, Any], bool | None]:
    """Builds `<`, `<=`, `>` or `>=`: null unless both are numbers, or both text as the library allows for dates."""
    compare = COMPARE[name]

    def orders(left: Any, right: Any) -> bool | None:
        kind, other = type(left), type(right)
        can_compare = kind is other is str or (kind in NUMBERS and other in NUMBERS)
        return compare(left, right) if can_compare else None

    return orders


NUMBERS = frozenset({int, float})


def build_equality(budget: QueryBudget) -> Callable[[Any, Any], bool]:
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
