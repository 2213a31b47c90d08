"""Builds traces from records: names them, sets their location, and warns about implausible numbers."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from evalgate.adapters.formats.core.builder.call_outcomes import apply_exit_codes
from evalgate.adapters.formats.core.builder.conversation import PARALLEL_FORMS, SERVER, find_opening_text
from evalgate.adapters.formats.core.builder.evidence_gaps import find_gaps, require_content
from evalgate.adapters.formats.core.builder.run import warn_of_missing_results
from evalgate.adapters.formats.core.builder.side_fields import set_origin
from evalgate.adapters.formats.core.usage import distrust_totals, sum_usages, warn_of_doubts, warn_of_mismatch
from evalgate.errors import TraceError
from evalgate.models.trace.trace import (
    MAX_ID_LENGTH,
    DamagedTrace,
    Trace,
    TraceLocation,
    unknown_cost,
    unknown_latency,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.adapters.formats.core.format import Reader
    from evalgate.models.trace.trace import ToolCall, TraceRecord, Warning_

    Record = TypeVar("Record")

SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".log", ".traj", ".pb", ".binpb")
HASH_DIGITS = 12


def name_scenario(trace: Trace, relative_path: str, *, is_one_of_several: bool) -> str:
    """The path below the glob's fixed part without suffix; a hash distinguishes several traces of a file."""
    return build_trace_name(relative_path, find_opening_text(trace.messages) if is_one_of_several else None)


def build_trace_name(relative_path: str, opening: str | None) -> str:
    """Like `name_scenario`, with the opening text that distinguishes the conversation; None if not needed."""
    stem = _strip_suffix(relative_path)
    return _shorten_name(stem if opening is None else f"{stem}#{_hash_text(opening)}")


@lru_cache(maxsize=64)
def _strip_suffix(relative_path: str) -> str:
    """The path without its suffix; cached, as it is the same for all records of a file."""
    stem = relative_path.removesuffix(".gz")
    for suffix in SUFFIXES:
        if stem.endswith(suffix) and not stem.endswith(f"/{suffix}") and stem != suffix:
            return stem.removesuffix(suffix)
    return stem


def set_from_path(trace: Trace, scenario_id: str | None, variant: str | None) -> None:
    """Sets the scenario id in the path, unless the trace has one; the variant is a tag and in the metadata."""
    trace.scenario_id = scenario_id if trace.scenario_id is None else trace.scenario_id
    if variant is not None:
        trace.metadata = {"variant": variant, **trace.metadata}
        trace.tags = [*trace.tags, *([] if variant in trace.tags else [variant])]


def name_damaged_record(relative_path: str, source: TraceLocation) -> str:
    """The path below the glob's fixed part, with the line or record number if the file has several."""
    if source.line is not None:
        return _shorten_name(f"{relative_path}#L{source.line}")
    return _shorten_name(relative_path if source.record is None else f"{relative_path}#{source.record}")


def _shorten_name(name: str) -> str:
    """An id has at most 512 characters; a longer path keeps its end."""
    if len(name) <= MAX_ID_LENGTH:
        return name
    return f"{_hash_text(name)}-{name[HASH_DIGITS + 1 - MAX_ID_LENGTH :]}"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


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
    _compare_latency(trace)
    if any(call["status"] == "missing" for call in trace.tool_calls):
        _add_warnings(trace, warn_of_missing_results(trace.agent_calls))
    if _have_repeated_id(trace.tool_calls):
        _add_warning(trace, "same_call_id", SAME_ID, "tool_calls")
    if any("requested" in call for call in trace.tool_calls):
        from evalgate.adapters.formats.core.builder.executions import list_other_executions  # few traces need it

        _add_warnings(trace, list_other_executions(trace.tool_calls))
    if trace.status == "incomplete":
        _add_warning(trace, "incomplete", ENDED_EARLY, None)
    if trace.finish_reason == "length":
        _add_warning(trace, "truncated", CUT_OFF, "finish_reason")
    if trace.llm_calls:
        distrust_totals(trace)
    usages = [call["usage"] for call in trace.llm_calls if call["usage"] is not None]
    if usages and all(call["usage"] is not None or "error" in call for call in trace.llm_calls):
        _add_warnings(trace, warn_of_mismatch(trace.usage, sum_usages(usages), "usage"))


ROUNDED = 0.99
"""The share of its longest call that a run may take at least: recorders round."""


def _compare_latency(trace: Trace) -> None:
    """Makes a latency unknown that is shorter than one of the run's calls, with a warning."""
    taken = trace.latency["total_ms"]
    if taken is None:
        return
    durations = [call["duration_ms"] or 0 for call in (*trace.agent_calls, *trace.llm_calls)]
    longest = max(durations, default=0)
    if taken < longest * ROUNDED:
        trace.latency = unknown_latency()
        message = f"the recorded latency of {taken:g} ms is shorter than a call of {longest:g} ms: it is unknown"
        _add_warning(trace, "latency_mismatch", message, "latency")


def compare_durations(records: Iterable[Record]) -> Iterator[Record]:
    """Yields the records of one file in order and adds a warning to runs of exactly equal duration.

    Only the first few are held back, until it is known whether they differ.
    """
    rest = iter(records)
    held: list[Record] = []

    def hold() -> Iterator[Record]:
        for record in rest:
            held.append(record)
            yield record

    duration = find_equal_duration(hold())
    for record in chain(held, rest):
        warn_of_duration(record, duration)
        yield record


def find_equal_duration(records: Iterable[Any]) -> float | None:
    """The duration of a file's first runs if all are equal, else None; takes no more records than that needs."""
    durations: list[float | None] = []
    for record in records:
        if isinstance(record, Trace):
            durations.append(record.latency["total_ms"])
            if durations[-1] is None or durations[-1] != durations[0]:
                return None
            if len(durations) == MIN_EQUAL_RUNS:
                return durations[0]
    return None


def warn_of_duration(record: Any, duration: float | None) -> None:
    """Warns that the clock may be made up if the run took exactly as long as the first ones of its file."""
    if duration is not None and isinstance(record, Trace) and record.latency["total_ms"] == duration:
        _add_warning(record, "suspicious_latency", EQUAL_DURATIONS, "latency")


def _have_repeated_id(calls: Sequence[ToolCall]) -> bool:
    """Whether two calls of one step share an id; across steps, valid traces may repeat ids too."""
    named = [(call["step"], call["id"]) for call in calls if call["id"]]
    return len(set(named)) < len(named)


def _add_warning(trace: Trace, code: str, message: str, where: str | None) -> None:
    _add_warnings(trace, [{"code": code, "message": message, "where": where}])


def _add_warnings(trace: Trace, warnings: list[Warning_]) -> None:
    codes = {warning["code"] for warning in trace.warnings}
    trace.warnings += [warning for warning in warnings if warning["code"] not in codes]


NO_TRACE = "it contains no trace"


def read_records(reader: Reader, document: Any, source: TraceLocation, relative_path: str) -> Iterator[TraceRecord]:
    """Yields the traces of a document's records; raises TraceError if it has none."""
    records = reader.split(document)
    if not records:
        raise TraceError(NO_TRACE)
    if len(records) == 1:
        yield read_record(reader, records[0], source, relative_path)
        return
    for number, record in enumerate(records):
        location = TraceLocation(source.path, source.format, source.line, number, source.sha256)
        yield read_record(reader, record, location, relative_path)


def read_record(reader: Reader, record: Any, source: TraceLocation, relative_path: str) -> TraceRecord:
    """The trace of one record; a damaged one keeps scenario id and trial if they can be read."""
    is_one_of_several = source.line is not None or source.record is not None
    in_path = None if reader.read_path is None or is_one_of_several else reader.read_path(source.path)
    try:
        trace = _build_whole(reader, record)
    except TraceError as error:
        scenario_id, trial = reader.identify(record)
        if scenario_id is None and in_path is not None:
            scenario_id = in_path[0]
        return DamagedTrace(str(error), source, name_damaged_record(relative_path, source), scenario_id, trial)
    if in_path is not None:
        set_from_path(trace, *in_path)
    set_origin(trace)
    _note_last_answer(trace)
    add_plausibility_warnings(trace)
    if trace.status == "incomplete":
        from evalgate.adapters.formats.core.builder.run_end import note_missing_end  # few runs need it

        note_missing_end(trace)
    trace.source = source
    if reader.keeps_record:
        trace.record = record
    if not trace.trace_id:
        suffix = "" if source.record is None else f"-{source.record}"
        trace.trace_id = f"{(source.sha256 or '')[:32]}{suffix}"
    if trace.scenario_id is None:
        trace.scenario_id = name_scenario(trace, relative_path, is_one_of_several=is_one_of_several)
    return trace


def _build_whole(reader: Reader, record: Any) -> Trace:
    """The trace that the reader builds, completed by what no reader does by itself; raises TraceError."""
    trace = reader.build(record)
    warn_of_doubts(trace)
    require_content(trace)
    apply_exit_codes(trace)
    if reader.is_of_one_agent:
        _note_started_agents(trace)
    find_gaps(trace, record, reader)
    _expand_parallel_calls(trace)
    if not reader.reads_texts:
        _note_written_calls(trace)
    return trace


def _note_last_answer(trace: Trace) -> None:
    """Marks a run whose last answer failed, was filtered, cut, paused or broke off, unless its format says its end."""
    if trace.status != "ok" or not trace.messages:
        return
    last = trace.messages[-1]
    reason = trace.finish_reason or last["finish_reason"]
    is_empty = last["role"] == "assistant" and not any(last.get(each) for each in ("content", "parts", "tool_calls"))
    if reason in LAST_REASONS or (is_empty and reason in NO_REASONS):
        from evalgate.adapters.formats.core.builder.run_end import note_last_answer  # few runs need it

        note_last_answer(trace, reason)


LAST_REASONS = ("error", "content_filter", "length", "pause_turn", "compaction")
"""Reasons for which an answer ended without ending the run by itself."""
NO_REASONS = ("unknown", "other", "OTHER")
"""What SDKs record where the provider gave no reason, as after a stream that broke off; some do for whole answers."""


def _note_started_agents(trace: Trace) -> None:
    given = (call["arguments"] for call in trace.tool_calls)
    if any(arguments.__class__ is dict and not STARTS_AGENT.isdisjoint(arguments) for arguments in given):
        from evalgate.adapters.formats.core.builder.started_agents import note_started_agents  # few traces need it

        note_started_agents(trace)


STARTS_AGENT = frozenset({"subagent_type", "system_prompt", "agents"})
"""Arguments of calls that may start an agent."""


def _note_written_calls(trace: Trace) -> None:
    texts = "\n".join([each["content"] for each in trace.messages if each["role"] == "assistant" and each["content"]])
    if any(sign in texts for sign in SIGNS_OF_CALLS):
        from evalgate.adapters.formats.core.builder.written_calls import note_written_calls  # few traces need it

        note_written_calls(trace)


SIGNS_OF_CALLS = (
    *("tool_call>", "<function=", "invoke name=", "Action", "to=functions.", "[TOOL_CALLS]", "<|tool_call"),
    *('"action_input"', "\u273fFUNCTION", "<execute_", "<end_code>", "<code>", ")]"),
    *("<|python_tag|>", "tool\u2581call\u2581begin", "```tool_code", "<use_mcp_tool>", '"parameters"', '"arguments"'),
)
"""Notations of calls in the text of models."""


def _expand_parallel_calls(trace: Trace) -> None:
    """Reads a call of OpenAI's tool for parallel calls, or of a server, as those calls."""
    if any(call["name"].endswith(PARALLEL_FORMS) or call["name"].startswith(SERVER) for call in trace.tool_calls):
        from evalgate.adapters.formats.core.builder.parallel_calls import expand_parallel_calls  # few traces need it

        expand_parallel_calls(trace)
