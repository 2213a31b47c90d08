"""Finds out which evidence a trace may lack, and refuses records from which nothing was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.known_shapes import find_unknown, shorten
from evalgate.adapters.formats.core.builder.unread_calls import JSON_STARTS, PRINTED, CallScan
from evalgate.adapters.formats.core.content import find_unknown_part
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.format import Reader
    from evalgate.models.trace.trace import EvidenceKind, Trace

EMPTY = "it records nothing that the agent did: no message, no tool call, no model call and no tokens"
ASKED_FOR_TOOLS = "the model asked for tools (finish_reason tool_calls), but no call is recorded"
ADVICE = "it may hold calls that are not read; record calls in a form that docs/traces.md lists"
RESULT_WITHOUT_CALL = "the result of a tool is recorded, but not its call: record the messages from the start"
JSON_FOR_A_NAME = "the name of a called tool is JSON, so the tool is not known: record the name as text"
MAX_FIELDS = 5


def require_content(trace: Trace) -> None:
    """Raises TraceError if the trace holds no message, call, model call or token."""
    if not (trace.messages or trace.tool_calls or trace.llm_calls or trace.usage["total_tokens"]):
        raise TraceError(EMPTY)


def find_gaps(trace: Trace, record: Any, reader: Reader) -> None:
    """Searches the record for calls that were not read; raises FieldError for one, or notes a gap."""
    names = {call["name"] for call in trace.tool_calls}
    scan = CallScan(names | reader.not_tools, reader.without_calls, reader.copy_flag)
    if isinstance(record, dict | list):
        scan.search(record)
    else:
        scan.search([{"content": one["content"]} for one in trace.messages if PRINTED in (one["content"] or "")])
    note_unknown(trace, find_unknown_part(trace.messages))
    if isinstance(record, dict | list):
        note_unknown(trace, find_unknown(record, reader.shapes))
    if scan.incomplete:
        fields = ", ".join(f"`{name}`" for name in scan.incomplete[:MAX_FIELDS])
        add_gap(trace, "calls", f"{fields} may hold calls in a form that is not read")
    if any(name.startswith(JSON_STARTS) for name in names):
        add_gap(trace, "calls", JSON_FOR_A_NAME)
    if any(warning["code"] == "result_without_call" for warning in trace.warnings):
        add_gap(trace, "calls", RESULT_WITHOUT_CALL)
    if not names and asked_for_tools(trace):
        add_gap(trace, "calls", ASKED_FOR_TOOLS)


def asked_for_tools(trace: Trace) -> bool:
    """True if a model response ended in order to call tools."""
    if trace.finish_reason == "tool_calls" or any(call["finish_reason"] == "tool_calls" for call in trace.llm_calls):
        return True
    return any(message["finish_reason"] == "tool_calls" for message in trace.messages)


def describe_unknown(subject: str, kind: str) -> str:
    """Says that something in a record has a type that its reader does not know."""
    return f"{subject} has the unknown type `{shorten(kind)}`"


def note_unknown(trace: Trace, unknown: str | None) -> None:
    """Makes the evidence of calls incomplete if something in the record is unknown."""
    if unknown is not None:
        add_gap(trace, "calls", f"{unknown}: {ADVICE}")


def add_gap(trace: Trace, kind: EvidenceKind, reason: str) -> None:
    """Notes that evidence of this kind is incomplete, with a warning; the first reason is kept."""
    if kind in trace.gaps:
        return
    trace.gaps = {**trace.gaps, kind: reason}
    trace.warnings = [*trace.warnings, {"code": "missing_evidence", "message": reason, "where": kind}]
