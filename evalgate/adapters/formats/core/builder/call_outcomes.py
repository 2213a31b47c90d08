"""Settles how tool calls ended: by their exit codes, and where a record leaves open whether they succeeded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.builder.conversation import mark_failed
from evalgate.adapters.formats.core.builder.evidence_gaps import MAX_FIELDS, add_gap, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.trace.trace import ToolCall, Trace

ADVICE_ON_OUTCOMES = (
    "their results have neither an exit code nor an error flag; check the text of the results with"
    " `source: {tool: ...}`"
)


def apply_exit_codes(trace: Trace) -> None:
    """Marks each call whose recorded exit code is not 0 as failed, in all formats alike; 0 settles what is unknown."""
    for call in trace.tool_calls:
        if call["exit_code"] and call["status"] != "error":
            mark_failed(call)
        elif call["exit_code"] == 0 and call["status"] == "unknown":
            call["status"] = "ok"


def note_unknown_outcomes(trace: Trace, calls: Sequence[ToolCall]) -> None:
    """Makes the evidence of errors incomplete if there are calls with a result that may be that of a failure."""
    if calls:
        names = list(dict.fromkeys(call["name"] for call in calls))
        tools = ", ".join(f"`{shorten(name)}`" for name in names[:MAX_FIELDS])
        add_gap(trace, "errors", f"whether calls of {tools} succeeded is not recorded: {ADVICE_ON_OUTCOMES}")
