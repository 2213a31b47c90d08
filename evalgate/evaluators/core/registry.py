"""Maps each evaluator `type` to its class; a class is imported when a suite first uses it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.evaluators.core.evaluator import Evaluator

_FAMILIES = {
    "calls.each_call": ("tool_arguments", "tool_latency_limit"),
    "calls.grounded_arguments": ("grounded_arguments",),
    "calls.no_flow": ("no_flow",),
    "calls.scheduling": (
        *("expected_tool", "has_timing", "is_recurring", "no_run_code", "no_tool", "staggered_timing"),
    ),
    "calls.tool_counts": (
        *("allowed_tools", "forbidden_tools", "max_tool_calls", "max_tool_errors", "tool_called", "tool_calls"),
    ),
    "calls.tool_sequence": ("tool_sequence",),
    "calls.trajectory": ("no_loops", "trajectory_score"),
    "convergence": ("convergence",),
    "jmespath": ("jmespath",),
    "outputs": ("exit_code", "output_contains", "output_json", "output_numeric"),
    "similarity": ("is_refusal", "similarity"),
    "skills.checks": ("expected_skill", "no_skill", "skill_used"),
    "state": ("files_changed", "state", "state_unchanged"),
    "texts": (
        *("contains", "contains_all", "contains_any", "ends_with", "equals", "icontains", "is_json"),
        *("max_length", "min_length", "not_empty", "regex", "starts_with"),
    ),
    "whole_run": ("cost_limit", "finish_reason", "latency_limit", "recorded_score", "token_limit", "turn_limit"),
}
"""The types of each module, so that a suite imports only what it uses."""
BUILT_IN_TYPES = dict(sorted((kind, module) for module, kinds in _FAMILIES.items() for kind in kinds))
"""The module of each type."""


class PluginKinds(Protocol):
    """Evaluators from plugins."""

    def find(self, kind: str) -> type[Evaluator] | None:
        """Returns the class of a type, None for an unknown one."""

    def names(self) -> Iterable[str]:
        """Returns the types that the plugins define."""


_plugins: list[PluginKinds] = []


def use_plugins(kinds: PluginKinds) -> None:
    """Makes this process look up types that are not built in among these plugins."""
    _plugins[:] = [kinds]


def evaluator_types() -> list[str]:
    """Returns every type that a suite may use."""
    return [*BUILT_IN_TYPES, *plugin_types()]


def plugin_types() -> list[str]:
    """Returns the types that plugins define."""
    return [name for kinds in _plugins for name in kinds.names()]


def evaluator_class(kind: str) -> type[Evaluator] | None:
    """Returns the class of a type, None for an unknown one."""
    if kind not in BUILT_IN_TYPES:
        return next((found for kinds in _plugins if (found := kinds.find(kind))), None)
    return built_in_class(kind)


def built_in_class(kind: object) -> type[Evaluator] | None:
    """Returns the class of a built-in type, None for anything else."""
    if not isinstance(kind, str) or kind not in BUILT_IN_TYPES:
        return None
    return list_classes(BUILT_IN_TYPES[kind])[kind]


@cache
def list_classes(module: str) -> dict[str, type[Evaluator]]:
    """Returns the evaluators of a module of `kinds` by the type that each states."""
    found = import_module(f"evalgate.evaluators.kinds.{module}")
    own = [each for each in vars(found).values() if isinstance(each, type) and each.__module__ == found.__name__]
    stated = [(each, getattr(each, "model_fields", {}).get("type")) for each in own]
    return {name: each for each, field in stated if field is not None for name in get_args(field.annotation)}
