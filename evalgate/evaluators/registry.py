"""Which class judges which `type`; a class is imported when a suite first uses it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from evalgate.evaluators.base import Evaluator

KINDS: dict[str, tuple[str, str]] = {
    "convergence": ("convergence", "Convergence"),
    "cost_limit": ("limits", "CostLimit"),
    "exit_code": ("exit_code", "ExitCode"),
    "jmespath": ("query", "QueryAssertion"),
    "latency_limit": ("limits", "LatencyLimit"),
    "output_contains": ("output_contains", "OutputContains"),
    "output_json": ("output_json", "OutputJson"),
    "output_numeric": ("output_numeric", "OutputNumeric"),
    "recorded_score": ("recorded", "RecordedScore"),
    "tool_called": ("tools", "ToolCalled"),
    "tool_sequence": ("tools", "ToolSequence"),
}


def evaluator_class(kind: str) -> type[Evaluator] | None:
    """The class of a type, None for an unknown one."""
    if kind not in KINDS:
        return None
    module, name = KINDS[kind]
    return cast("type[Evaluator]", getattr(import_module(f"evalgate.evaluators.{module}"), name))
