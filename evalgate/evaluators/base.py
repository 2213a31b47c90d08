"""What plugin evaluators import: the base class, its input (`Trace`) and its output (`Finding`).

`Evaluator` is a pydantic model here, so that plugin authors can use all of pydantic.
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
    made.__module__ = __name__  # so that workers on other machines can import it
    globals()[name] = made
    return made
