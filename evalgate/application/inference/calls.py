"""What a scenario's trials have in common in their calls: tools, their number, their order, their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.application.inference.arguments import infer_arguments
from evalgate.application.inference.checks import MANY, InferredCheck, Strictness, count_trials
from evalgate.application.inference.observations import list_ordered_pairs, reduce_pairs
from evalgate.application.mutation.operators import is_destructive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.application.inference.observations import TraceSet
    from evalgate.models.trace.trace import Trace

MAX_SEQUENCE, MAX_FORBIDDEN = 60, 30


def infer_calls(trials: Sequence[Trace], traces: TraceSet, strictness: Strictness) -> list[InferredCheck]:
    """The checks of a scenario's calls; a scenario without any call gets none."""
    if not any(trace.called for trace in trials):
        return []
    if strictness != "loose" and _have_one_sequence(trials):
        found = [_expect_sequence(trials)]
    else:
        found = list(_expect_tools(trials, traces, strictness))
        if strictness != "loose":
            found += _expect_order(trials, traces)
    return [*found, *_limit_destructive(trials, traces, strictness), *_forbid_others(trials, traces, strictness)]


def _have_one_sequence(trials: Sequence[Trace]) -> bool:
    called = trials[0].called
    return len(trials) >= MANY and len(called) <= MAX_SEQUENCE and all(trace.called == called for trace in trials)


def _expect_sequence(trials: Sequence[Trace]) -> InferredCheck:
    calls = [trace.agent_calls for trace in trials]
    steps = [
        _describe_step(name, infer_arguments([each[at]["arguments"] for each in calls], len(trials)))
        for at, name in enumerate(trials[0].called)
    ]
    entry = {"type": "tool_sequence", "mode": "in_order", "sequence": steps, "required": True}
    return InferredCheck(entry, count_trials(len(trials), trials))


def _describe_step(tool: str, arguments: dict[str, Any]) -> Any:
    """A step of a sequence; a name with `*` would be a glob, which it matches too."""
    return {"tool": tool, "args": arguments} if arguments else tool


def _expect_tools(trials: Sequence[Trace], traces: TraceSet, strictness: Strictness) -> Iterator[InferredCheck]:
    for tool in sorted({name for trace in trials for name in trace.called}):
        counts = [trace.called.count(tool) for trace in trials]
        having = sum(map(bool, counts))
        reason = count_trials(having, trials)
        required = {"required": True}
        if having < len(trials):
            yield InferredCheck({"type": "tool_called", "tool": tool}, reason, is_active=False)
        elif not traces.is_steady(tool):
            always, ever = traces.stability[tool]
            reason += f", but in all trials of only {always:,} of {ever:,} scenarios"
            yield InferredCheck({"type": "tool_called", "tool": tool}, reason, is_active=False)
        elif max(counts) == 1 and (arguments := _find_arguments(tool, trials)) and strictness != "loose":
            step = {"tool": tool, "args": arguments}
            yield InferredCheck({"type": "tool_sequence", "sequence": [step], **required}, reason)
        elif min(counts) > 1 and len(trials) > 1 and strictness != "loose":
            entry = {"type": "tool_calls", "tool": tool, "min": min(counts), **required}
            yield InferredCheck(entry, f"{_format_range(counts)} calls {reason}")
        else:
            yield InferredCheck({"type": "tool_called", "tool": tool, **required}, reason)


def _find_arguments(tool: str, trials: Sequence[Trace]) -> dict[str, Any]:
    given = [call["arguments"] for trace in trials for call in trace.agent_calls if call["name"] == tool]
    return infer_arguments(given, len(trials))


def _format_range(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _expect_order(trials: Sequence[Trace], traces: TraceSet) -> Iterator[InferredCheck]:
    """Pairs of tools that no trial calls in the other order, without those that hold in all scenarios."""
    common = set.intersection(*(list_ordered_pairs(trace, traces.compared) for trace in trials))
    for first, second in sorted(reduce_pairs(common) - traces.never_after.keys()):
        yield expect_never_after(first, second, count_trials(len(trials), trials))


def expect_never_after(first: str, second: str, reason: str) -> InferredCheck:
    """A check that no call of the first tool comes after one of the second."""
    entry = {"not": {"type": "tool_sequence", "sequence": [second, first]}}
    return InferredCheck(entry, f"{first} before {second} {reason}")


def _limit_destructive(trials: Sequence[Trace], traces: TraceSet, strictness: Strictness) -> Iterator[InferredCheck]:
    """Tools whose calls are hard to undo are called no more often than in any trial."""
    for tool in sorted({name for trace in trials for name in trace.called if is_destructive(name)}):
        if strictness != "loose" and traces.is_steady(tool):
            counts = [trace.called.count(tool) for trace in trials]
            entry = {"type": "tool_calls", "tool": tool, "max": max(counts), "required": True}
            yield InferredCheck(entry, f"{_format_range(counts)} {count_trials(sum(map(bool, counts)), trials)}")


def _forbid_others(trials: Sequence[Trace], traces: TraceSet, strictness: Strictness) -> Iterator[InferredCheck]:
    """Tools of other scenarios that no trial called; a suggestion unless the suite is to be strict."""
    others = sorted(set(traces.tools).difference(*(trace.called for trace in trials)))[:MAX_FORBIDDEN]
    is_strict = strictness == "strict"
    if others and (len(trials) >= MANY or is_strict):
        entry = {"type": "forbidden_tools", "tools": others}
        yield InferredCheck(entry, count_trials(0, trials), is_active=is_strict)
