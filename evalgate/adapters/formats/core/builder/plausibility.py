"""Adds warnings about implausible numbers and missing results to traces of every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from evalgate.adapters.formats.core.builder.run_end import warn_of_missing_results
from evalgate.adapters.formats.core.usage.totals import warn_of_mismatch
from evalgate.adapters.formats.core.usage.usage_fields import sum_usages
from evalgate.models.trace.trace import Trace, unknown_cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.models.trace.trace import ToolCall, Warning_

    Record = TypeVar("Record")

MIN_EQUAL_RUNS = 5
"""This many runs of one file with equal durations cause a warning; until then they are held back."""
EQUAL_DURATIONS = "the runs of this file all took exactly the same time: the timestamps may be synthetic"
ENDED_EARLY = "the run did not finish"
CUT_OFF = "the last answer was cut off at the length limit"
SAME_ID = "calls of one step have the same id: results are matched to calls by their order only"
ZERO_COST = "a cost of 0 with recorded tokens is treated as unknown"


def add_plausibility_warnings(trace: Trace) -> None:
    """Adds warnings that readers of the verdict need, unless the format's reader has added them."""
    if trace.cost["usd"] == 0 and (trace.usage["input_tokens"] or trace.usage["output_tokens"]):
        trace.cost = unknown_cost()
        _add_warning(trace, "zero_cost", ZERO_COST, "cost")
    if any(call["status"] == "missing" for call in trace.tool_calls):
        _add_warnings(trace, warn_of_missing_results(trace.agent_calls))
    if _have_repeated_id(trace.tool_calls):
        _add_warning(trace, "same_call_id", SAME_ID, "tool_calls")
    if trace.status == "incomplete":
        _add_warning(trace, "incomplete", ENDED_EARLY, None)
    if trace.finish_reason == "length":
        _add_warning(trace, "truncated", CUT_OFF, "finish_reason")
    usages = [call["usage"] for call in trace.llm_calls if call["usage"] is not None]
    if usages and all(call["usage"] is not None or "error" in call for call in trace.llm_calls):
        _add_warnings(trace, warn_of_mismatch(trace.usage, sum_usages(usages), "usage"))


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
            if _total_ms(record) != _total_ms(runs[0]) or _total_ms(record) is None:
                yield from waiting
                yield from records
                return
            if len(runs) == MIN_EQUAL_RUNS:
                break
    if len(runs) < MIN_EQUAL_RUNS:
        yield from waiting
        return
    for run in runs:
        _add_warning(run, "suspicious_latency", EQUAL_DURATIONS, "latency")
    yield from waiting
    for record in records:
        if isinstance(record, Trace) and _total_ms(record) == _total_ms(runs[0]):
            _add_warning(record, "suspicious_latency", EQUAL_DURATIONS, "latency")
        yield record


def _have_repeated_id(calls: Sequence[ToolCall]) -> bool:
    """Whether two calls of one step share an id; across steps, valid traces may repeat ids too."""
    named = [(call["step"], call["id"]) for call in calls if call["id"]]
    return len(set(named)) < len(named)


def _total_ms(trace: Trace) -> float | None:
    return trace.latency["total_ms"]


def _add_warning(trace: Trace, code: str, message: str, where: str | None) -> None:
    _add_warnings(trace, [{"code": code, "message": message, "where": where}])


def _add_warnings(trace: Trace, warnings: list[Warning_]) -> None:
    codes = {warning["code"] for warning in trace.warnings}
    trace.warnings += [warning for warning in warnings if warning["code"] not in codes]
