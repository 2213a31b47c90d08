"""The library's interpreter, for expressions that are not compiled, with its work counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jmespath import visitor

from evalgate.measures.jmespath.budget import require_finite
from evalgate.measures.jmespath.logic import build_equality

if TYPE_CHECKING:
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
