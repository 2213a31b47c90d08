"""The table of traces that `evalgate traces` prints: what each records, and which evidence it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

from evalgate.measures.text.ids import cut_middle
from evalgate.models.trace.trace import format_place
from evalgate.models.trace.trace_view import list_evidence
from evalgate.reporting.terminal.terminal_page import GAP, format_columns
from evalgate.reporting.text import wording
from evalgate.reporting.text.conversation_order import count_actors
from evalgate.scoring.recorded_result import find_recorded_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import DamagedTrace, EvidenceKind, EvidenceState, Trace

HEADER = (
    *("trace", "scenario", "trial", "format", "model", "turns", "calls", "agents", "tokens", "cost", "latency"),
    *("status", "result", "nowhere", "evidence"),
)
OPTIONAL = {"agents": "agents", "nowhere": "arguments_from_nowhere"}
"""Columns that are left out where no row has their field: several agents, arguments without a source."""
COPIED = 2
"""The first columns: the place for `evalgate show`, and the id for a suite."""
MIN_PLACE = 32
"""Fewest characters to which a place is cut."""
UNREADABLE = "unreadable"


class ResultFact(TypedDict):
    """The score by which a run recorded whether it passed."""

    name: str
    value: float
    passed: bool


class TraceRow(TypedDict):
    """What one trace records; amounts are null if unknown.

    `agents` is present only if there are several, `arguments_from_nowhere` if it was asked for; `reason`, and the
    formats that it nearly has, only if it can't be read.
    """

    path: str
    line: int | None
    record: int | None
    trace_id: str | None
    scenario_id: str | None
    trial: int | None
    format: str | None
    model: str | None
    turns: int | None
    tool_calls: int | None
    total_tokens: int | None
    cost_usd: float | None
    known_cost_usd: float | None
    latency_seconds: float | None
    status: str
    result: ResultFact | None
    evidence: dict[EvidenceKind, EvidenceState]
    agents: NotRequired[int]
    arguments_from_nowhere: NotRequired[int]
    reason: NotRequired[str]
    nearest: NotRequired[list[str]]


def build_trace_row(trace: Trace, *, with_sources: bool = False) -> TraceRow:
    """What a trace records; `with_sources` counts the arguments that come from nowhere, which takes longer."""
    source, latency_ms, result = trace.source, trace.latency["total_ms"], find_recorded_result(trace)
    row: TraceRow = {
        "path": source.path,
        "line": source.line,
        "record": source.record,
        "trace_id": trace.trace_id,
        "scenario_id": trace.scenario_id,
        "trial": trace.trial,
        "format": source.format,
        "model": trace.model,
        "turns": trace.turn_count,
        "tool_calls": trace.call_count,
        "total_tokens": trace.usage["total_tokens"],
        "cost_usd": trace.cost["usd"],
        "known_cost_usd": trace.cost.get("known_usd"),
        "latency_seconds": None if latency_ms is None else latency_ms / 1000,
        "status": trace.status,
        "result": None if result is None else {"name": result.name, "value": result.value, "passed": result.passed},
        "evidence": list_evidence(trace),
    }
    agents = count_actors(trace)
    if agents > 1:
        row["agents"] = agents
    if with_sources:
        from evalgate.reporting.text.argument_lines import count_from_nowhere

        row["arguments_from_nowhere"] = count_from_nowhere(trace)
    return row


def build_damaged_row(damaged: DamagedTrace) -> TraceRow:
    """A record that can't be read, with the reason."""
    source = damaged.source
    return {
        "path": source.path,
        "line": source.line,
        "record": source.record,
        "trace_id": None,
        "scenario_id": damaged.scenario_id,
        "trial": damaged.trial,
        "format": source.format or None,
        "model": None,
        "turns": None,
        "tool_calls": None,
        "total_tokens": None,
        "cost_usd": None,
        "known_cost_usd": None,
        "latency_seconds": None,
        "status": UNREADABLE,
        "result": None,
        "evidence": {},
        "reason": damaged.reason,
        "nearest": list(damaged.nearest),
    }


def render_trace_table(rows: Sequence[TraceRow], width: int) -> str:
    """The table of the traces, at most `width` wide if its columns fit; an id is never cut.

    If there is no room for the places, their middle is left out.
    """
    kept = [at for at, name in enumerate(HEADER) if any(OPTIONAL.get(name, "path") in row for row in rows)]
    return _format_kept(rows, kept, width)


def render_fitted_table(rows: Sequence[TraceRow], width: int) -> str:
    """The same without columns that are empty in all rows: the table for a terminal."""
    cells = [_format_row(row) for row in rows]
    kept = [at for at in range(len(HEADER)) if at < COPIED or any(row[at] != wording.DASH for row in cells)]
    return _format_kept(rows, kept, width)


def _format_kept(rows: Sequence[TraceRow], kept: Sequence[int], width: int) -> str:
    cells = [_format_row(row) for row in rows]
    return _format_fitting([HEADER[at] for at in kept], [[row[at] for at in kept] for row in cells], width)


def _format_fitting(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    room = max(width - sum(widths[1:]) - len(GAP) * len(widths[1:]), MIN_PLACE)
    return format_columns(header, [[cut_middle(place, room), *others] for place, *others in rows], width, COPIED)


def _format_row(row: TraceRow) -> list[str]:
    texts = [
        format_place(row["path"], row["line"], row["record"]),
        row["scenario_id"],
        _format_number(row["trial"]),
        row["format"],
        row["model"],
        _format_number(row["turns"]),
        _format_number(row["tool_calls"]),
        _format_number(row.get("agents")),
        _format_number(row["total_tokens"]),
        _format_cost(row),
        None if row["latency_seconds"] is None else wording.seconds(row["latency_seconds"]),
        row["status"],
        _format_result(row["result"]),
        _format_number(row.get("arguments_from_nowhere")),
        describe_evidence(row["evidence"]),
    ]
    return [text or wording.DASH for text in texts]


def _format_result(result: ResultFact | None) -> str | None:
    return None if result is None else f"{result['name']} {result['value']:g}"


def _format_number(number: int | None) -> str | None:
    return None if number is None else f"{number:,}"


def _format_cost(row: TraceRow) -> str | None:
    if row["cost_usd"] is not None:
        return wording.dollars(row["cost_usd"])
    return f">= {wording.dollars(row['known_cost_usd'])}" if row["known_cost_usd"] else None


def describe_evidence(states: dict[EvidenceKind, EvidenceState]) -> str:
    """Which kinds of evidence are there: `all`, or those that lack: `no cost, times; part of calls`."""
    if not states:
        return ""
    missing = [kind for kind, state in states.items() if state == "missing"]
    partial = [kind for kind, state in states.items() if state == "partial"]
    parts = [f"no {', '.join(missing)}"] if missing else []
    parts += [f"part of {', '.join(partial)}"] if partial else []
    return "; ".join(parts) or "all"
