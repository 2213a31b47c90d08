"""Which class judges which `type`; a class is imported when a suite first uses it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from evalgate.models.golden_result import DIMENSION_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.evaluators.evaluator import Evaluator

KINDS: dict[str, tuple[str, str]] = {
    "allowed_tools": ("tool_counts", "AllowedTools"),
    "contains": ("text_parts", "Contains"),
    "contains_all": ("text_parts", "ContainsAll"),
    "contains_any": ("text_parts", "ContainsAny"),
    "convergence": ("convergence", "Convergence"),
    "cost_limit": ("limits", "CostLimit"),
    "ends_with": ("text_parts", "EndsWith"),
    "equals": ("text_parts", "Equals"),
    "exit_code": ("exit_code", "ExitCode"),
    "expected_tool": ("scheduling", "ExpectedTool"),
    "finish_reason": ("finish_reason", "FinishReason"),
    "forbidden_tools": ("tool_counts", "ForbiddenTools"),
    "has_timing": ("timing", "HasTiming"),
    "icontains": ("text_parts", "IContains"),
    "is_json": ("text_shape", "IsJson"),
    "is_recurring": ("timing", "IsRecurring"),
    "is_refusal": ("refusal", "IsRefusal"),
    "jmespath": ("query", "QueryAssertion"),
    "latency_limit": ("limits", "LatencyLimit"),
    "max_length": ("text_shape", "MaxLength"),
    "max_tool_calls": ("tool_counts", "MaxToolCalls"),
    "max_tool_errors": ("tool_counts", "MaxToolErrors"),
    "min_length": ("text_shape", "MinLength"),
    "no_loops": ("loops", "NoLoops"),
    "no_run_code": ("scheduling", "NoRunCode"),
    "no_tool": ("scheduling", "NoTool"),
    "not_empty": ("text_shape", "NotEmpty"),
    "output_contains": ("output_contains", "OutputContains"),
    "output_json": ("output_json", "OutputJson"),
    "output_numeric": ("output_numeric", "OutputNumeric"),
    "recorded_score": ("recorded", "RecordedScore"),
    "regex": ("text_shape", "Regex"),
    "similarity": ("similarity", "Similarity"),
    "staggered_timing": ("timing", "StaggeredTiming"),
    "starts_with": ("text_parts", "StartsWith"),
    "token_limit": ("usage_limits", "TokenLimit"),
    "tool_arguments": ("tool_arguments", "ToolArguments"),
    "tool_called": ("tools", "ToolCalled"),
    "tool_calls": ("tool_counts", "ToolCalls"),
    "tool_latency_limit": ("tool_latency", "ToolLatencyLimit"),
    "tool_sequence": ("tool_sequence", "ToolSequence"),
    "trajectory_score": ("trajectory", "TrajectoryScore"),
    "turn_limit": ("usage_limits", "TurnLimit"),
}


GOLDEN_VERSION = 1
"""It rises when the same trace could score otherwise beside the same golden."""


class OwnKinds(Protocol):
    """Evaluators that do not come with the gate."""

    def find(self, kind: str) -> type[Evaluator] | None:
        """The class of a type, None for an unknown one."""

    def names(self) -> Iterable[str]:
        """The types that there are."""


_own: list[OwnKinds] = []
_named: dict[str, type[Evaluator]] = {}


def use_own(kinds: OwnKinds) -> None:
    """From now on, in this process, a type that is not built in is looked for there."""
    _own[:] = [kinds]
    _named.clear()


def known_kinds() -> list[str]:
    """Every type that a suite may name."""
    return [*KINDS, *own_kinds()]


def own_kinds() -> list[str]:
    """The types that do not come with the gate."""
    return [name for kinds in _own for name in kinds.names()]


def evaluator_class(kind: str) -> type[Evaluator] | None:
    """The class of a type, None for an unknown one."""
    if kind not in KINDS:
        return _own_class(kind)
    module, name = KINDS[kind]
    return cast("type[Evaluator]", getattr(import_module(f"evalgate.evaluators.{module}"), name))


def _own_class(kind: str) -> type[Evaluator] | None:
    found = next((found for kinds in _own if (found := kinds.find(kind))), None)
    if found is not None:
        _named[kind] = found
    return found


def versions() -> dict[str, int]:
    """The version of every built-in evaluator, of what scores goldens, and of each own one that was named."""
    own = {kind: found.version for kind, found in _named.items()}
    return dict(sorted({**dict.fromkeys(KINDS, 1), DIMENSION_TYPE: GOLDEN_VERSION, **own}.items()))
