"""Maps each evaluator `type` to its class; a class is imported when a suite first uses it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from evalgate.models.run.golden import DIMENSION_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.evaluators.core.evaluator import Evaluator

_FAMILIES = {
    "calls.each_call": ("tool_arguments", "tool_latency_limit"),
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
    "texts": (
        *("contains", "contains_all", "contains_any", "ends_with", "equals", "icontains", "is_json"),
        *("max_length", "min_length", "not_empty", "regex", "starts_with"),
    ),
    "whole_run": ("cost_limit", "finish_reason", "latency_limit", "recorded_score", "token_limit", "turn_limit"),
}
"""The types of each module; the class of `tool_called` is ToolCalled."""
_CLASS_NAMES = {"icontains": "IContains", "jmespath": "QueryAssertion"}
BUILT_IN_TYPES = dict(sorted((kind, module) for module, kinds in _FAMILIES.items() for kind in kinds))
"""The module of each type."""

_WITH_TOOL_NAMES = (
    *("convergence", "exit_code", "expected_tool", "has_timing", "is_recurring", "no_run_code", "no_tool"),
    *("output_contains", "output_json", "output_numeric", "staggered_timing", "tool_arguments", "tool_called"),
    *("tool_calls", "tool_latency_limit", "trajectory_score"),
)
_VERSIONS = {**dict.fromkeys(BUILT_IN_TYPES, 1), **dict.fromkeys(_WITH_TOOL_NAMES, 2), "expected_tool": 3}
"""Versions of the built-in evaluators. 2: `*` in the name of a tool matches any characters; 3: scenarios that expect no
tool forbid the scheduling tools only."""

GOLDEN_VERSION = 1
"""Increase it when the same trace could get another score against the same golden."""


class PluginKinds(Protocol):
    """Evaluators from plugins."""

    def find(self, kind: str) -> type[Evaluator] | None:
        """Returns the class of a type, None for an unknown one."""

    def names(self) -> Iterable[str]:
        """Returns the types that the plugins define."""


_plugins: list[PluginKinds] = []
_used_plugins: dict[str, type[Evaluator]] = {}


def use_plugins(kinds: PluginKinds) -> None:
    """Makes this process look up types that are not built in among these plugins."""
    _plugins[:] = [kinds]
    _used_plugins.clear()


def evaluator_types() -> list[str]:
    """Returns every type that a suite may use."""
    return [*BUILT_IN_TYPES, *plugin_types()]


def plugin_types() -> list[str]:
    """Returns the types that plugins define."""
    return [name for kinds in _plugins for name in kinds.names()]


def evaluator_class(kind: str) -> type[Evaluator] | None:
    """Returns the class of a type, None for an unknown one."""
    if kind not in BUILT_IN_TYPES:
        return _plugin_class(kind)
    module = import_module(f"evalgate.evaluators.kinds.{BUILT_IN_TYPES[kind]}")
    return cast("type[Evaluator]", getattr(module, _CLASS_NAMES.get(kind) or kind.title().replace("_", "")))


def _plugin_class(kind: str) -> type[Evaluator] | None:
    found = next((found for kinds in _plugins if (found := kinds.find(kind))), None)
    if found is not None:
        _used_plugins[kind] = found
    return found


def evaluator_versions() -> dict[str, int]:
    """Returns the versions of all built-in evaluators, of golden scoring, and of the plugin ones in use."""
    own = {kind: found.version for kind, found in _used_plugins.items()}
    return dict(sorted({**_VERSIONS, DIMENSION_TYPE: GOLDEN_VERSION, **own}.items()))
