"""The door of own evaluators: what they are made of, with pydantic's own models under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.declarations import full_model
from evalgate.evaluators import evaluator
from evalgate.evaluators.evaluator import Check, Finding

if TYPE_CHECKING:
    from evalgate.evaluators.evaluator import Evaluator

__all__ = ["Check", "Evaluator", "Finding"]


def __getattr__(name: str) -> Any:
    if name != "Evaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made: Any = full_model(evaluator.Evaluator)
    made.__module__ = __name__  # where it is looked for on other machines
    globals()[name] = made
    return made
