"""What distinguishes the failed trials of a scenario from those that passed: tools, their number, their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.inference.checks import MANY, InferredCheck
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.features.learn.application.inference.observations import TraceSet
    from evalgate.models.trace.trace import Trace

    Counts = Sequence[Counter[str]]

MAX_FORBIDDEN = 30
FEW = 2
"""Failed trials that together show what they lack."""


def forbid_others(passing: Counts, failed: Counts, traces: TraceSet, *, is_strict: bool) -> Iterator[InferredCheck]:
    """Forbids acts that no passing trial makes, one check for those that as many failed trials make.

    Of a tool whose name has no word for a change only where passing trials change nothing at all: it may be a look-up.
    Few trials forbid only what failed ones call, unless the suite is to be strict. Tools in which passing trials of
    other scenarios differ are left out.
    """
    has_many = is_strict or len(passing) + len(failed) >= MANY
    groups: dict[int, list[str]] = {}
    others = set(traces.acts).difference(*passing)
    does_act = len(others) < len(traces.acts)
    for tool in sorted(each for each in others if traces.has_effect(each) or not does_act):
        count = sum(tool in counts for counts in failed)
        if (count or has_many) and (is_strict or traces.is_steady(tool)):
            groups.setdefault(count, []).append(tool)
    for count in sorted(groups, reverse=True):
        if count:
            reason = f"called in {count} of {pluralize(len(failed), 'failed trial')}, in 0 of {len(passing)} passing"
        else:
            reason = f"called in none of {len(passing) + len(failed)} trials"
        yield InferredCheck(
            {"type": "forbidden_tools", "tools": groups[count][:MAX_FORBIDDEN], "required": True}, reason
        )


def limit_others(
    passing: Counts, failed: Counts, traces: TraceSet, counted: Collection[str]
) -> Iterator[InferredCheck]:
    """Limits the calls of tools with an effect to as many as a passing trial makes, where failed trials make more."""
    for tool in sorted(set().union(*passing)):
        most = max(counts[tool] for counts in passing)
        more = sum(counts[tool] > most for counts in failed)
        if more and tool not in counted and traces.has_effect(tool) and traces.is_steady(tool):
            entry: dict[str, Any] = {"type": "tool_calls", "tool": tool, "max": most, "required": True}
            failures = pluralize(len(failed), "failed trial")
            yield InferredCheck(entry, f"called more often in {more} of {failures}")


def demand_others(
    passing: Counts, failed: Counts, traces: TraceSet, counted: Collection[str]
) -> Iterator[InferredCheck]:
    """Demands more calls of a tool with an effect than failed trials make, where each passing trial makes more.

    Whether it must be called at all is decided for tools of any kind.
    """
    for tool in sorted(set.intersection(*map(set, passing))):
        least = min(counts[tool] for counts in passing)
        fewer = [counts[tool] for counts in failed if counts[tool] < least]
        if len(fewer) >= FEW and max(fewer) and tool not in counted and traces.has_effect(tool):
            entry: dict[str, Any] = {"type": "tool_calls", "tool": tool, "min": max(fewer) + 1, "required": True}
            failures = pluralize(len(failed), "failed trial")
            yield InferredCheck(entry, f"called less often in {len(fewer)} of {failures}")


def count_other_values(tool: str, failed: Sequence[Trace], name: str, value: Any) -> int:
    """The number of failed trials that call a tool, but never with this value of an argument."""
    found = 0
    for trace in failed:
        given = [call["arguments"] for call in trace.agent_calls if call["name"] == tool]
        known = [each for each in given if isinstance(each, dict)]
        found += bool(known) and all(each.get(name) != value for each in known)
    return found
