"""What the figures of a recording say against themselves, asked of every format in the same way."""

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
"""Runs of one file that must have taken equally long before that is told; they wait for each other."""
MADE_UP = "the runs of this file took exactly as long as one another: the clock may be made up"
ENDED_EARLY = "the run did not come to its end"
CUT = "the last answer was cut off at its largest length"
SAME_ID = "calls of one step have the same id: which result is whose follows from their order only"
FREE = "a cost of 0 beside metered tokens is taken as unknown"


def question(trace: Trace) -> None:
    """Adds what a reader of the verdict should know, where the format's own reader has not said it."""
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
    """The records of one file as they come; runs of one and the same duration are told to be so.

    The first few wait until it is known whether they differ; no more of them are held.
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
    """Whether calls made at once can't be told apart; later ones repeat ids in honest recordings too."""
    named = [(call["step"], call["id"]) for call in calls if call["id"]]
    return len(set(named)) < len(named)


def _duration(trace: Trace) -> float | None:
    return trace.latency["total_ms"]


def _say(trace: Trace, code: str, message: str, where: str | None) -> None:
    _add(trace, [{"code": code, "message": message, "where": where}])


def _add(trace: Trace, warnings: list[Warning_]) -> None:
    known = {warning["code"] for warning in trace.warnings}
    trace.warnings += [warning for warning in warnings if warning["code"] not in known]
