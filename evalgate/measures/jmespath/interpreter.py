"""The library's interpreter, for expressions that are not compiled, with its work counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jmespath import visitor

from evalgate.measures.jmespath.budget import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.measures.jmespath.budget import QueryBudget
    from evalgate.measures.jmespath.functions import Functions


class Interpreter(visitor.TreeInterpreter):
    """Walks the tree of the expression in every search; each visit is spent from `budget`."""

    def __init__(self, budget: QueryBudget, functions: Functions) -> None:
        super().__init__(visitor.Options(custom_functions=functions))
        self._budget = budget
        equals = build_equality(budget)
        self.COMPARATOR_FUNC = {  # type: ignore[misc]  # of this instance only
            **visitor.TreeInterpreter.COMPARATOR_FUNC,
            "eq": equals,
            "ne": lambda left, right: not equals(left, right),
        }

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the value of one node. Raises QueryFailedError and what the library raises."""
        value = require_finite(super().visit(node, *args, **kwargs))
        size = len(value) if isinstance(value, list) else len(value) >> 4 if isinstance(value, str) else 0
        self._budget.spend(1 + size)
        return value

    def visit_flatten(self, node: Any, value: Any) -> Any:
        """Flattens a list by one level, and counts its members before the new list is built."""
        members = self.visit(node["children"][0], value)
        return flatten(members, self._budget) if isinstance(members, list) else None


def flatten(members: list[Any], budget: QueryBudget) -> list[Any]:
    """The members of a list, with lists among them flattened one level."""
    if list not in map(type, members):
        return members
    budget.spend(sum(len(each) for each in members if isinstance(each, list)))
    return [inner for each in members for inner in (each if isinstance(each, list) else [each])]


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
