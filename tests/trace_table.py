"""Which fields the test traces of each format hold, as a table for docs/traces.md; run as a script, it writes the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
DOCUMENT = ROOT / "docs" / "traces.md"
BEGIN, END = "<!-- table: make docs writes it -->\n", "<!-- end of the table -->"
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


def table_in_document(text: str) -> str:
    """The table between the markers of the document."""
    return text.split(BEGIN)[1].split(END, maxsplit=1)[0]


if __name__ == "__main__":
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}{format_table(fields_by_format(read_traces()))}{END}{after}", encoding="utf-8")
