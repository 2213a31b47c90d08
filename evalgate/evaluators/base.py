"""What evaluators of other packages import: the base class, what it works on, and what it returns.

`Evaluator` is a pydantic model here, so that authors have all of pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.declarations import full_model
from evalgate.evaluators.core import evaluator
from evalgate.evaluators.core.evaluator import Check, Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from evalgate.evaluators.core.evaluator import Evaluator

__all__ = ["Check", "Evaluator", "FieldProblemError", "Finding", "Trace"]


def __getattr__(name: str) -> Any:
    if name != "Evaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made: Any = full_model(evaluator.Evaluator)
    made.__module__ = __name__  # where it is looked for on other machines
    globals()[name] = made
    return made
