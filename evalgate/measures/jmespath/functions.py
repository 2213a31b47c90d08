"""JMESPath's functions, those of the library, with their work counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jmespath import functions

from evalgate.measures.jmespath.budget import require_finite

if TYPE_CHECKING:
    from evalgate.measures.jmespath.budget import QueryBudget

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
