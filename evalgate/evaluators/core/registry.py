"""Maps each evaluator `type` to its class; a class is imported when a suite first uses it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from evalgate.models.run.golden import DIMENSION_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.evaluators.core.evaluator import Evaluator

BUILT_IN_TYPES: dict[str, tuple[str, str]] = {
    "allowed_tools": ("calls.tool_counts", "AllowedTools"),
    "contains": ("texts", "Contains"),
    "contains_all": ("texts", "ContainsAll"),
    "contains_any": ("texts", "ContainsAny"),
    "convergence": ("convergence", "Convergence"),
    "cost_limit": ("whole_run", "CostLimit"),
    "ends_with": ("texts", "EndsWith"),
    "equals": ("texts", "Equals"),
    "exit_code": ("outputs", "ExitCode"),
    "expected_tool": ("calls.scheduling", "ExpectedTool"),
    "finish_reason": ("whole_run", "FinishReason"),
    "forbidden_tools": ("calls.tool_counts", "ForbiddenTools"),
    "has_timing": ("calls.scheduling", "HasTiming"),
    "icontains": ("texts", "IContains"),
    "is_json": ("texts", "IsJson"),
    "is_recurring": ("calls.scheduling", "IsRecurring"),
    "is_refusal": ("similarity", "IsRefusal"),
    "jmespath": ("jmespath", "QueryAssertion"),
    "latency_limit": ("whole_run", "LatencyLimit"),
    "max_length": ("texts", "MaxLength"),
    "max_tool_calls": ("calls.tool_counts", "MaxToolCalls"),
    "max_tool_errors": ("calls.tool_counts", "MaxToolErrors"),
    "min_length": ("texts", "MinLength"),
    "no_loops": ("calls.trajectory", "NoLoops"),
    "no_run_code": ("calls.scheduling", "NoRunCode"),
    "no_tool": ("calls.scheduling", "NoTool"),
    "not_empty": ("texts", "NotEmpty"),
    "output_contains": ("outputs", "OutputContains"),
    "output_json": ("outputs", "OutputJson"),
    "output_numeric": ("outputs", "OutputNumeric"),
    "recorded_score": ("whole_run", "RecordedScore"),
    "regex": ("texts", "Regex"),
    "similarity": ("similarity", "Similarity"),
    "staggered_timing": ("calls.scheduling", "StaggeredTiming"),
    "starts_with": ("texts", "StartsWith"),
    "token_limit": ("whole_run", "TokenLimit"),
    "tool_arguments": ("calls.each_call", "ToolArguments"),
    "tool_called": ("calls.tool_counts", "ToolCalled"),
    "tool_calls": ("calls.tool_counts", "ToolCalls"),
    "tool_latency_limit": ("calls.each_call", "ToolLatencyLimit"),
    "tool_sequence": ("calls.tool_sequence", "ToolSequence"),
    "trajectory_score": ("calls.trajectory", "TrajectoryScore"),
    "turn_limit": ("whole_run", "TurnLimit"),
}


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
    module, name = BUILT_IN_TYPES[kind]
    return cast("type[Evaluator]", getattr(import_module(f"evalgate.evaluators.kinds.{module}"), name))


def _plugin_class(kind: str) -> type[Evaluator] | None:
    found = next((found for kinds in _plugins if (found := kinds.find(kind))), None)
    if found is not None:
        _used_plugins[kind] = found
    return found


def evaluator_versions() -> dict[str, int]:
    """Returns the versions of all built-in evaluators, of golden scoring, and of the plugin ones in use."""
    own = {kind: found.version for kind, found in _used_plugins.items()}
    return dict(sorted({**_VERSIONS, DIMENSION_TYPE: GOLDEN_VERSION, **own}.items()))
