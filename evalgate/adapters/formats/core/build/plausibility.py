"""Adds warnings about implausible numbers and missing results to traces of every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evalgate.adapters.formats.core.build.run_end import missing_results
from evalgate.adapters.formats.core.usage.totals import mismatch
from evalgate.adapters.formats.core.usage.usage_fields import summed
from evalgate.models.trace.trace import Trace, unknown_cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.trace.trace import ToolCall, Warning_

    Record = TypeVar("Record")

ENOUGH = 5
"""This many runs of one file with equal durations cause a warning; until then they are held back."""
MADE_UP = "the runs of this file took exactly as long as one another: the clock may be made up"
ENDED_EARLY = "the run did not come to its end"
CUT = "the last answer was cut off at its largest length"
SAME_ID = "calls of one step have the same id: which result is whose follows from their order only"
FREE = "a cost of 0 beside metered tokens is taken as unknown"


def question(trace: Trace) -> None:
    """Adds warnings that readers of the verdict need, unless the format's reader has added them."""
    if trace.cost["usd"] == 0 and (trace.usage["input_tokens"] or trace.usage["output_tokens"]):
        trace.cost = unknown_cost()
        _say(trace, "zero_cost", FREE, "cost")
    if trace.glance is None:
        if any(call["status"] == "missing" for call in trace.tool_calls):
            _add(trace, missing_results(trace.agent_calls))
        if _have_one_id(trace.tool_calls):
            _say(trace, "same_call_id", SAME_ID, "tool_calls")
    if trace.status == "incomplete":
        _say(trace, "incomplete", ENDED_EARLY, None)
    if trace.finish_reason == "length":
        _say(trace, "truncated", CUT, "finish_reason")
    usages = [call["usage"] for call in trace.llm_calls if call["usage"] is not None]
    if usages and len(usages) == len(trace.llm_calls):
        _add(trace, mismatch(trace.usage, summed(usages), "usage"))


def compare_durations(records: Iterable[Record]) -> Iterator[Record]:
    """Yields the records of one file in order and adds a warning to runs of exactly equal duration.

    Only the first few are held back, until it is known whether they differ.
    """
    waiting: list[Record] = []
    runs: list[Trace] = []
    records = iter(records)
    for record in records:
        waiting.append(record)
        if isinstance(record, Trace):
            runs.append(record)
            if _duration(record) != _duration(runs[0]) or _duration(record) is None:
                yield from waiting
                yield from records
                return
            if len(runs) == ENOUGH:
                break
    if len(runs) < ENOUGH:
        yield from waiting
        return
    for run in runs:
        _say(run, "suspicious_latency", MADE_UP, "latency")
    yield from waiting
    for record in records:
        if isinstance(record, Trace) and _duration(record) == _duration(runs[0]):
            _say(record, "suspicious_latency", MADE_UP, "latency")
        yield record


def _have_one_id(calls: Sequence[ToolCall]) -> bool:
    """Whether two calls of one step share an id; across steps, valid traces may repeat ids too."""
    named = [(call["step"], call["id"]) for call in calls if call["id"]]
    return len(set(named)) < len(named)


def _duration(trace: Trace) -> float | None:
    return trace.latency["total_ms"]


def _say(trace: Trace, code: str, message: str, where: str | None) -> None:
    _add(trace, [{"code": code, "message": message, "where": where}])


def _add(trace: Trace, warnings: list[Warning_]) -> None:
    known = {warning["code"] for warning in trace.warnings}
    trace.warnings += [warning for warning in warnings if warning["code"] not in known]
