"""What plugin evaluators import: the base class, its input (`Trace`) and its output (`Finding`)."""

from __future__ import annotations

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.models.trace.trace import Trace

__all__ = ["Check", "Evaluator", "FieldProblemError", "Finding", "Trace"]
