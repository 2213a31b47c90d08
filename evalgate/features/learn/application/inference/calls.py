"""What a scenario's trials have in common in their calls: tools, their number, their order, their arguments."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.inference.arguments import infer_arguments
from evalgate.features.learn.application.inference.checks import (
    MANY,
    SURE,
    InferredCheck,
    Strictness,
    require_from_many,
)
from evalgate.features.learn.application.inference.contrast import (
    FEW,
    count_other_values,
    demand_others,
    forbid_others,
    limit_others,
)
from evalgate.features.learn.application.inference.observations import SUPPORT
from evalgate.features.learn.application.inference.ordering import (
    are_parallel,
    cover_pairs,
    divide_into_layers,
    find_common_order,
    is_habit,
    list_ordered_pairs,
)
from evalgate.features.learn.measures.usable_names import is_usable_name
from evalgate.measures.text.tool_words import is_destructive
from evalgate.models.trace.trace_view import list_evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalgate.features.learn.application.inference.observations import TraceSet
    from evalgate.features.learn.application.inference.ordering import Pair
    from evalgate.models.trace.trace import ToolCall, Trace

MAX_SEQUENCE, MAX_REPEATED, MAX_RULES = 20, 5, 2


class _TrialCalls:
    """The calls of a scenario's trials, counted once: a trace may have thousands of them."""

    def __init__(self, trials: Sequence[Trace], failed: Sequence[Trace], traces: TraceSet) -> None:
        self.trials, self._failed, self._traces = trials, failed, traces
        self._is_single_of_many = len(trials) == 1 and len(traces.traces) >= SUPPORT
        self.sequences = [trace.called for trace in trials]
        self.counts = [Counter(called) for called in self.sequences]
        self.failed_counts = [Counter(trace.called) for trace in failed]
        self._arguments: dict[str, list[Any]] = {}
        self._distinct: list[Counter[str]] = []
        for trace in trials:
            seen = set()
            for call in trace.agent_calls:
                self._arguments.setdefault(call["name"], []).append(call["arguments"])
                seen.add((call["name"], repr(call["arguments"])))
            self._distinct.append(Counter(name for name, _ in seen))

    def list_steady(self) -> list[str]:
        """The tools that all trials call, as early as they do; those that come and go elsewhere only if shown here."""
        common = set.intersection(*map(set, self.counts))
        starts = {tool: sum(called.index(tool) for called in self.sequences) for tool in common}
        ordered = sorted(common, key=lambda tool: (starts[tool], tool))
        return [tool for tool in ordered if self._is_needed(tool) and is_usable_name(tool)]

    def _is_needed(self, tool: str) -> bool:
        """Whether a tool that all trials call is required: trials agree on it elsewhere, or enough of them do here.

        Several failed trials that never call it are enough, too. Of a single trial, where the set is large enough to
        show more, a call that changes nothing may be its habit.
        """
        if self._is_single_of_many and not self._traces.has_effect(tool):
            return False
        is_missed = len(self.failed_counts) >= FEW and not any(counts[tool] for counts in self.failed_counts)
        called = len(self.trials) + sum(counts[tool] > 0 for counts in self.failed_counts)
        is_sure = called >= SURE and called == len(self.trials) + len(self.failed_counts)
        return self._traces.is_steady(tool) or is_sure or is_missed

    def find_arguments(self, tool: str) -> dict[str, Any]:
        """What the arguments of a tool have in common that each trial calls once."""
        if not self.is_single(tool):
            return {}
        return infer_arguments(self._arguments[tool], len(self.trials), partial(count_other_values, tool, self._failed))

    def count_changes(self) -> dict[str, dict[str, Any]]:
        """For each tool that changes something how often it is called, if what was seen shows that.

        That is at least if always, and at most, for calls that are hard to undo; one number for others.
        """
        found: dict[str, dict[str, Any]] = {}
        for tool in sorted({name for counts in self.counts for name in counts}):
            least, most = min(counts[tool] for counts in self.counts), max(counts[tool] for counts in self.counts)
            if is_destructive(tool) and tool in self._traces.changing and self._traces.is_steady(tool):
                limits = {"exactly": most} if least == most else {"min": least, "max": most} if least else {"max": most}
                found[tool] = {"type": "tool_calls", "tool": tool, **limits}
            elif len(self.trials) > 1 and least == most and tool in self._traces.changes_counted_alike:
                found[tool] = {"type": "tool_calls", "tool": tool, "exactly": most}
        return found

    def list_counts(self, counted: Collection[str]) -> dict[str, int]:
        """The steady tools, each with how often every one of several trials calls it.

        Tools that are counted by another check are left out unless they have arguments. A look-up that is only
        repeated, with the arguments of before, counts once.
        """
        found: dict[str, int] = {}
        for tool in self.list_steady():
            if tool not in counted or self.find_arguments(tool):
                counts = self.counts if tool in self._traces.changing else self._distinct
                least = min(each[tool] for each in counts) if len(self.trials) > 1 else 1
                found[tool] = min(least, MAX_REPEATED)
        return dict(list(found.items())[:MAX_SEQUENCE])

    def describe_step(self, tool: str) -> Any:
        """A step of a sequence: the tool, with what its arguments have in common."""
        return _describe_step(tool, self.find_arguments(tool))

    def is_single(self, tool: str) -> bool:
        """Whether every trial calls the tool once."""
        return all(counts[tool] == 1 for counts in self.counts)

    @property
    def has_one_sequence(self) -> bool:
        """Whether many trials make the same calls."""
        first = self.sequences[0]
        is_short = len(first) <= MAX_SEQUENCE and all(map(is_usable_name, first))
        return len(self.trials) >= MANY and is_short and all(each == first for each in self.sequences)

    def list_layers(self) -> list[list[Any]]:
        """The calls that all trials make, with what their arguments have in common; calls of one message together.

        What one trial calls in parallel has no order, whatever the others do; nor have look-ups that another run may
        make in parallel.
        """
        calls, beside = [trace.agent_calls for trace in self.trials], set[str]()
        layers: list[list[Any]] = []
        for at, name in enumerate(self.sequences[0]):
            if name not in self._traces.changing and all(map(partial(_is_repeated, at), calls)):
                continue
            step = _describe_step(name, infer_arguments([each[at]["arguments"] for each in calls], len(calls)))
            if layers and (
                any(are_parallel(each[at - 1], each[at]) for each in calls)
                or all(is_habit(trace, beside, name) for trace in self.trials)
            ):
                layers[-1].append(step)
                beside.add(name)
            else:
                layers.append([step])
                beside = {name}
        return layers


def _is_repeated(at: int, calls: Sequence[ToolCall]) -> bool:
    """Whether a call was made before with the same arguments: another run may do without it, if it is a look-up."""
    call = calls[at]
    return any(each["name"] == call["name"] and each["arguments"] == call["arguments"] for each in calls[:at])


def _describe_step(tool: str, arguments: dict[str, Any]) -> Any:
    return {"tool": tool, "args": arguments} if arguments else tool


def infer_calls(
    trials: Sequence[Trace], failed: Sequence[Trace], traces: TraceSet, strictness: Strictness
) -> list[InferredCheck]:
    """The checks of a scenario's calls, from trials that passed and others that failed."""
    calls = _TrialCalls(trials, failed, traces)
    forbidden = list(forbid_others(calls.counts, calls.failed_counts, traces, is_strict=strictness == "strict"))
    if not any(calls.counts):
        return list(_forbid_calls(trials, failed)) or forbidden
    if strictness == "loose":
        return [require_from_many(_expect_tool(tool), trials) for tool in calls.list_steady()]
    counted = calls.count_changes()
    if calls.has_one_sequence:
        found = [_expect_layers(calls.list_layers())]
        rules: list[InferredCheck] = []
    else:
        pairs = _find_order(trials, failed, traces)
        found = _expect_tools(calls, calls.list_counts(set(filter(is_destructive, counted))), pairs)
        rules = _keep_order(calls, pairs - traces.never_after.keys(), found)
    found += map(InferredCheck, counted.values())
    found = [require_from_many(check, trials) for check in found]
    limits = limit_others(calls.counts, calls.failed_counts, traces, counted)
    demands = demand_others(calls.counts, calls.failed_counts, traces, counted)
    return [*found, *rules, *demands, *limits, *forbidden]


def _find_order(trials: Sequence[Trace], failed: Sequence[Trace], traces: TraceSet) -> set[Pair]:
    """Pairs of tools in the order of all trials; a single trial's order is its habit unless others show it too.

    These are failed trials of the scenario, or passing ones of other scenarios.
    """
    pairs = find_common_order(trials, traces.compared)
    if len(trials) > 1:
        return {(a, b) for a, b in pairs if not all(is_habit(trace, [a], b) for trace in trials)}
    shown = [list_ordered_pairs(trace, traces.compared) for trace in failed]
    called = [set(trace.called) for trace in failed]

    def is_shown(pair: Pair) -> bool:
        if not any(map(traces.has_effect, pair)):
            return False
        both = sum(called_by.issuperset(pair) for called_by in called)
        return pair in traces.kept_orders or (both > 0 and sum(pair in each for each in shown) == both)

    return set(filter(is_shown, pairs))


def _expect_tools(calls: _TrialCalls, counts: Mapping[str, int], pairs: Collection[Pair]) -> list[InferredCheck]:
    """One check of all tools, the shortest that there is: in order as far as they have one."""
    layers = divide_into_layers(list(counts), pairs)
    steps = [[calls.describe_step(tool) for tool in layer for _ in range(counts[tool])] for layer in layers]
    if not steps:
        return []
    if len(counts) == 1 and isinstance(steps[0][0], str):
        (tool, count), *_ = counts.items()
        return (
            [_expect_tool(tool)] if count == 1 else [InferredCheck({"type": "tool_calls", "tool": tool, "min": count})]
        )
    return [_expect_layers(steps)]


def _keep_order(calls: _TrialCalls, pairs: Collection[Pair], found: Sequence[InferredCheck]) -> list[InferredCheck]:
    """The order of tools that is not yet kept by a sequence of single calls."""
    in_order = any(check.entry["type"] == "tool_sequence" and "mode" not in check.entry for check in found)
    single = set(filter(calls.is_single, calls.list_steady())) if in_order else set()
    left = {(a, b) for a, b in pairs if not {a, b} <= single}
    return [rule.build_check() for rule in cover_pairs(left, MAX_RULES)]


def _forbid_calls(trials: Sequence[Trace], failed: Sequence[Trace]) -> Iterator[InferredCheck]:
    """No call, unless one or two trials passed without any and others made some: they may have stalled."""
    is_known = len(trials) >= MANY or not any(trace.called for trace in failed)
    if is_known and all(list_evidence(trace)["calls"] == "complete" for trace in trials):
        yield require_from_many(InferredCheck({"type": "max_tool_calls", "max": 0}), trials)


def _expect_tool(tool: str) -> InferredCheck:
    return InferredCheck({"type": "tool_called", "tool": tool})


def _expect_layers(layers: Sequence[Sequence[Any]]) -> InferredCheck:
    """All of these steps, those of one layer in any order."""
    if len(layers) == 1:
        return _expect_sequence(layers[0], **({"mode": "any_order"} if len(layers[0]) > 1 else {}))
    return _expect_sequence([layer[0] if len(layer) == 1 else layer for layer in layers])


def _expect_sequence(steps: Sequence[Any], **mode: str) -> InferredCheck:
    if len(steps) == 1 and isinstance(steps[0], str):
        return _expect_tool(steps[0])
    return InferredCheck({"type": "tool_sequence", **mode, "sequence": list(steps)})
