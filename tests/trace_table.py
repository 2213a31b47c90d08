"""Tables for docs/traces.md: the fields that the test traces of each format hold, and the files each was tried on.

Run as a script, it writes them; of the second one, the rows are kept where the recordings of others are not there.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from documents import ROOT

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.detect import FORMATS
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from evalgate.models.trace.trace import TraceRecord

RECORDINGS = ROOT / "tests" / "recordings"
READINGS = ROOT / "tests" / "readings"
DOCUMENT = ROOT / "docs" / "traces.md"
SOURCES = ROOT / "tests" / "format_sources.toml"
BEGIN, END = "<!-- table: make docs writes it -->\n", "<!-- end of the table -->"
TRIED, TRIED_END = "<!-- tried: make docs writes it -->\n", "<!-- end of what was tried -->"
SHARED = ROOT.parent / "shared"
OTHERS = (SHARED / "traces", SHARED / "unread")
MONTH = len("2026-11")
NONE = "none"
EXPECTATIONS = "adk-evalset"
"""A format for expectations; no agent run is recorded in it."""

FIELD_CHECKS: dict[str, Callable[[Trace], bool]] = {
    "messages": lambda trace: bool(trace.messages),
    "calls": lambda trace: bool(trace.agent_calls),
    "arguments": lambda trace: any(call["arguments"] is not None for call in trace.agent_calls),
    "results": lambda trace: any(call["result_text"] is not None for call in trace.agent_calls),
    "errors": lambda trace: any(call["status"] == "error" for call in trace.agent_calls),
    "tokens": lambda trace: any(trace.usage[name] for name in ("input_tokens", "total_tokens")),
    "cost": lambda trace: trace.cost["usd"] is not None,
    "latency": lambda trace: trace.latency["total_ms"] is not None,
    "final response": lambda trace: bool(trace.response["content"]),
}


def read_traces(folder: Path = RECORDINGS) -> list[TraceRecord]:
    """Everything that is read below a folder."""
    return list(TraceFiles(Workspace(None, str(folder))).read(["**/*"], ""))


def fields_by_format(records: Iterable[TraceRecord]) -> dict[str, set[str]]:
    """By format, the fields that at least one of its traces holds."""
    found: dict[str, set[str]] = {}
    for trace in records:
        if isinstance(trace, Trace):
            known = {name for name, has_field in FIELD_CHECKS.items() if has_field(trace)}
            found.setdefault(trace.source.format, set()).update(known)
    return found


def format_table(found: dict[str, set[str]]) -> str:
    """One row per format, in the order of detection."""
    rows = [f"| format | {' | '.join(FIELD_CHECKS)} |", f"|---{'|---' * len(FIELD_CHECKS)}|"]
    for known in FORMATS:
        if known.name in found:
            cells = ["yes" if name in found[known.name] else "" for name in FIELD_CHECKS]
            rows.append(f"| `{known.name}` | {' | '.join(cells)} |".replace("  ", " "))
    return "".join(f"{row}\n" for row in rows)


class Tried(NamedTuple):
    """Recordings of others that are read in one format: files, traces, calls, first and last month, what wrote them."""

    files: int
    traces: int
    calls: int
    months: str
    written_by: str


def read_sources() -> dict[str, dict[str, Any]]:
    """By format, whose shape it has and when that was compared."""
    return tomllib.loads(SOURCES.read_text(encoding="utf-8"))


def tried_by_format() -> dict[str, Tried]:
    """By format, what was tried of the recordings of others."""
    traces: dict[str, list[Trace]] = {}
    for folder in OTHERS:
        for trace in read_traces(folder):
            if isinstance(trace, Trace):
                traces.setdefault(trace.source.format, []).append(trace)
    sources = read_sources()
    return {name: _describe_tried(found, sources[name]) for name, found in traces.items()}


def _describe_tried(traces: list[Trace], source: dict[str, Any]) -> Tried:
    months = sorted({month for trace in traces if (month := _find_month(trace)) is not None})
    versions = sorted({trace.agent["version"] for trace in traces if (trace.agent or {}).get("version")})
    return Tried(
        len({trace.source.path for trace in traces}),
        len(traces),
        sum(len(trace.agent_calls) for trace in traces),
        source.get("recorded", " to ".join(dict.fromkeys([*months[:1], *months[-1:]]))),
        source.get("by", ", ".join(versions)),
    )


def _find_month(trace: Trace) -> str | None:
    """When a trace was recorded, by its first time."""
    times = [trace.started_at, *(message["timestamp"] for message in trace.messages)]
    return next((time[:MONTH] for time in times if time), None)


def format_tried_table(tried: dict[str, Tried]) -> str:
    """One row per format, in the order of detection."""
    titles = "format | real files | traces | calls | recorded | written by | our own | in the shape of | compared"
    rows = [f"| {titles} |", "|---|--:|--:|--:|---|---|--:|---|---|"]
    sources = read_sources()
    for known in FORMATS:
        real, source = tried.get(known.name, Tried(0, 0, 0, "", "")), sources[known.name]
        counts = [str(count) if real.files else "" for count in real[1:3]]
        cells = [f"`{known.name}`", str(real.files or NONE), *counts, *real[3:], str(count_written(known.name))]
        rows.append(f"| {' | '.join([*cells, source['after'], str(source['compared'])])} |".replace("  ", " "))
    return "".join(f"{row}\n" for row in rows)


def count_written(name: str) -> int:
    """How many documents in a format the tests read that we wrote: files, and cases of what is read."""
    cases = READINGS / f"{name}.jsonl"
    lines = cases.read_text(encoding="utf-8").splitlines() if cases.exists() else ()
    return len(lines) + sum(path.is_file() for path in (RECORDINGS / name).rglob("*"))


def tried_in_table(table: str) -> dict[str, Tried]:
    """By format, what the table of the document says: where the recordings are not there, its rows are kept."""
    rows = (re.split(r" ?\| ?", line)[1:7] for line in table.splitlines()[2:])
    return {
        name.strip("`"): Tried(int(files), int(traces), int(calls), months, written_by)
        for name, files, traces, calls, months, written_by in rows
        if files != NONE
    }


def tried_in_document(text: str) -> str:
    """The second table of the document."""
    return text.split(TRIED)[1].split(TRIED_END, maxsplit=1)[0]


def table_in_document(text: str) -> str:
    """The table between the markers of the document."""
    return text.split(BEGIN)[1].split(END, maxsplit=1)[0]


if __name__ == "__main__":
    document = DOCUMENT.read_text(encoding="utf-8")
    document = document.replace(table_in_document(document), format_table(fields_by_format(read_traces())))
    tried = tried_by_format() if SHARED.is_dir() else tried_in_table(tried_in_document(document))
    document = document.replace(tried_in_document(document), format_tried_table(tried))
    DOCUMENT.write_text(document, encoding="utf-8")
