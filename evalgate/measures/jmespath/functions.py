"""JMESPath's functions: those of the library with their work counted, and shortcuts for a few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jmespath import functions

from evalgate.measures.jmespath.budget import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.measures.jmespath.budget import QueryBudget

    Step = Callable[[Any], Any]

BOOLEAN_FUNCTIONS = frozenset({"contains", "starts_with", "ends_with"})
"""Functions that return true or false."""
_SIZED = frozenset({str, list, dict})
_SCALARS = frozenset({str, int, float, bool, type(None)})
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


class _Expression:
    """`&expression`, with the class name that the library expects."""

    def __init__(self, step: Step, cost: int, budget: QueryBudget) -> None:
        self.expression = step
        self.cost = cost
        self._budget = budget

    def visit(self, step: Step, element: Any) -> Any:
        """Returns what the expression finds in one member of a list."""
        found = step(element)
        self._budget.spend(self.cost)
        if type(found) is str:
            self._budget.spend_on_text(found)  # a sort key, which will be compared
        return found


Expression = _Expression


def takes_expression(name: str, place: int) -> bool:
    """Returns whether the function takes `&expression` at that position, counted from 0."""
    signature = functions.Functions.FUNCTION_TABLE[name]["signature"]
    return place < len(signature) and "expref" in signature[place]["types"]


def build_call(name: str, arguments: Sequence[Step], library: Functions, budget: QueryBudget) -> Step:
    """Builds a call of the function with what its arguments find."""
    call = library.call_function
    shortcut = _SHORTCUTS.get(name)
    if shortcut is not None:
        return shortcut(arguments, call, budget)
    return lambda value: call(name, [argument(value) for argument in arguments])


def _build_length(arguments: Sequence[Step], call: Callable[..., Any], budget: QueryBudget) -> Step:
    del budget
    (find,) = arguments

    def step(value: Any) -> Any:
        found = find(value)
        return len(found) if type(found) in _SIZED else call("length", [found])

    return step


def _build_contains(arguments: Sequence[Step], call: Callable[..., Any], budget: QueryBudget) -> Step:
    find_subject, find_member = arguments
    spend, spend_on_text = budget.spend, budget.spend_on_text

    def step(value: Any) -> Any:
        subject, member = find_subject(value), find_member(value)
        if type(subject) is str and type(member) is str:
            spend_on_text(subject)
            return member in subject
        if type(subject) is list and type(member) in _SCALARS:
            spend(len(subject) * (1 + (len(member) >> 8) if type(member) is str else 1))
            return member in subject
        return call("contains", [subject, member])

    return step


def _build_starts_with(arguments: Sequence[Step], call: Callable[..., Any], budget: QueryBudget) -> Step:
    return _build_end_test("starts_with", str.startswith, arguments, call, budget)


def _build_ends_with(arguments: Sequence[Step], call: Callable[..., Any], budget: QueryBudget) -> Step:
    return _build_end_test("ends_with", str.endswith, arguments, call, budget)


def _build_end_test(
    name: str,
    has_end: Callable[[str, str], bool],
    arguments: Sequence[Step],
    call: Callable[..., Any],
    budget: QueryBudget,
) -> Step:
    find_text, find_end = arguments
    spend_on_text = budget.spend_on_text

    def step(value: Any) -> Any:
        text, end = find_text(value), find_end(value)
        if type(text) is str and type(end) is str:
            spend_on_text(end)
            return has_end(text, end)
        return call(name, [text, end])

    return step


_SHORTCUTS: dict[str, Callable[[Sequence[Step], Callable[..., Any], QueryBudget], Step]] = {
    "length": _build_length,
    "contains": _build_contains,
    "starts_with": _build_starts_with,
    "ends_with": _build_ends_with,
}
