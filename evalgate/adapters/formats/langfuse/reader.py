"""Reads Langfuse exports: a trace and its observations, from its UI or its API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.conversation import conversation_from_messages
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, find_unknown, note_unknown
from evalgate.adapters.formats.core.builder.run import add_warning, read_tags
from evalgate.adapters.formats.core.builder.side_fields import (
    drop_recorder_keys,
    identify_by_metadata,
    set_scenario_and_trial,
)
from evalgate.adapters.formats.core.fields import do_each, listing, mapping, text, time
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, words
from evalgate.adapters.formats.core.missing_rest import find_missing_rest
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.core.strict_json import encode_json, require_shallow
from evalgate.adapters.formats.core.usage import build_score, read_latency_seconds
from evalgate.adapters.formats.langfuse import ROW_TYPES, is_langfuse_row, is_langfuse_trace
from evalgate.adapters.formats.langfuse.observations import is_estimated, read_facts, span_from_row
from evalgate.adapters.formats.messages.sniff_messages import read_payload
from evalgate.adapters.formats.spans import assemble
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.span import Span
    from evalgate.models.trace.trace import Trace, TraceScore

TRACER_KEYS = frozenset({"attributes", "resourceAttributes", "scope"})
ROW_FIELDS = {"name": "traceName", "sessionId": "sessionId", "tags": "tags"}
EXAMPLE_KEYS = ("dataset_item_id", "datasetItemId")
ROW_HOLDERS = words("""
    input output metadata modelParameters usage usageDetails costDetails providedUsageDetails providedCostDetails
    toolDefinitions toolCalls toolCallNames tags scores comments model
""")
SHAPES = (Shape(("observations", EACH), ROW_HOLDERS, frozenset(ROW_TYPES)),)


class LangfuseExport(NamedTuple):
    """The row of a trace and its observations; `missing` says what the file says to be on other pages."""

    trace: Any
    rows: list[Any]
    is_whole: bool = False
    missing: str | None = None


def split(documents: list[Any]) -> Sequence[LangfuseExport]:
    """One export for each trace; separate observations are grouped by the trace they name."""
    found: list[LangfuseExport] = []
    missing = find_missing_rest(documents)
    separate: dict[str, LangfuseExport] = {}
    for item in _list_items(documents):
        if is_langfuse_trace(item):
            is_wrapped = "trace" in item
            trace = item["trace"] if is_wrapped else item
            found.append(LangfuseExport({**trace, "observations": None}, item["observations"], True, missing))
        elif is_langfuse_row(item):
            trace_id = item["traceId"]
            export = separate.setdefault(trace_id, LangfuseExport({"id": trace_id}, [], False, missing))
            export.rows.append(item)
            for name, key in ROW_FIELDS.items():
                if item.get(key):
                    export.trace.setdefault(name, item[key])
    return [*found, *separate.values()]


def build(record: LangfuseExport) -> Trace:
    """Builds one trace, without tokens that Langfuse counted itself and its cost for them."""
    head = mapping(record.trace, "trace")
    require_shallow([head, record.rows])
    if not record.rows:
        raise TraceError("the trace has no observations")
    spans: list[Span] = []
    do_each(record.rows, "observations", lambda row: spans.append(span_from_row(row)))
    _detach_root(spans, has_answer=bool(head.get("output")))
    trace = assemble.build(spans, read_facts)
    trace.trace_id = text(head.get("id"), "trace.id") or ""
    trace.name = text(head.get("name"), "trace.name")
    trace.conversation_id = text(head.get("sessionId"), "trace.sessionId") or trace.conversation_id
    trace.started_at = trace.started_at or time(head.get("timestamp"), "trace.timestamp")
    trace.tags = read_tags(head.get("tags"), "trace.tags")
    trace.metadata = _metadata(head)
    set_scenario_and_trial(trace, trace.metadata, *EXAMPLE_KEYS)
    trace.evaluations += _scores(head)
    if trace.latency["total_ms"] is None:
        trace.latency = read_latency_seconds(head.get("latency"), "trace.latency")
    if not trace.messages:
        _add_outer_messages(trace, head)
    if trace.response["content"] is None:
        _add_answer(trace, head)
    _warn_of_estimates(trace, spans)
    note_unknown(trace, find_unknown({"observations": record.rows}, SHAPES))
    if record.missing and record.is_whole:  # the traces of other pages may be in other files
        add_warning(trace, "other_pages", record.missing)
    elif record.missing:
        add_gap(trace, "calls", record.missing)
    return trace


def identify(record: LangfuseExport) -> Identity:
    """Scenario and trial from the trace's metadata."""
    head = record.trace if isinstance(record.trace, dict) else {}
    return identify_by_metadata(unwrap_text(head.get("metadata")), *EXAMPLE_KEYS)


def _list_items(documents: list[Any]) -> list[Any]:
    items: list[Any] = []
    for document in documents:
        listed = document.get("data") if isinstance(document, dict) else document
        items += listed if isinstance(listed, list) else [document]
    return items


def _metadata(head: dict[str, Any]) -> dict[str, Any]:
    """Metadata written by users, without the tracer's attributes and those of its machine."""
    recorded = unwrap_text(head.get("metadata"))
    if not isinstance(recorded, dict):
        return {}
    found = {key: unwrap_text(value) for key, value in recorded.items() if key not in TRACER_KEYS}
    for key in ("release", "version", "environment"):
        if isinstance(head.get(key), str) and key not in found and head[key] != "default":
            found[key] = head[key]
    return drop_recorder_keys(found)


def _scores(head: dict[str, Any]) -> list[TraceScore]:
    """Scores of the trace and of its observations; a categorical score has a label and no number."""
    found: list[TraceScore] = []

    def add(score: dict[str, Any]) -> None:
        value, part = score.get("value"), score.get("observationId")
        grade = build_score(score.get("name", ""), value if not isinstance(value, str) else None, "")
        grade["score_label"] = text(
            score.get("stringValue") or (value if isinstance(value, str) else None), "stringValue"
        )
        grade["explanation"] = text(score.get("comment"), "comment")
        grade["source"] = f"observation {part}" if isinstance(part, str) else None
        found.append(grade)

    do_each(listing(head.get("scores"), "trace.scores"), "trace.scores", add)
    return found


def _add_outer_messages(trace: Trace, head: dict[str, Any]) -> None:
    """Uses the trace's input and output as messages if no generation recorded any."""
    given, answered = read_payload(head.get("input"), "user"), read_payload(head.get("output"), "assistant")
    messages = [*(given or ()), *(answered or ())]
    if messages and not trace.tool_calls:
        conversation = conversation_from_messages(messages)
        trace.messages, trace.tool_calls = conversation.messages, conversation.calls
        trace.response = conversation.get_response()


def _detach_root(spans: list[Span], *, has_answer: bool) -> None:
    """Removes a parent outside of the export: the span of the program that started the run.

    If the trace has its own answer, what runs below that parent came to its end.
    """
    known = {span.span_id for span in spans}
    outer_ids = {span.parent_id for span in spans} - known
    if len(outer_ids) == 1:
        for span in spans:
            if span.parent_id in outer_ids:
                span.is_detached, span.parent_id = span.parent_id is not None, None
                span.is_entry = span.is_entry or has_answer


def _add_answer(trace: Trace, head: dict[str, Any]) -> None:
    """Uses the trace's output as answer if no model answered in text (a tool took the answer)."""
    output = unwrap_text(head.get("output"))
    if isinstance(output, dict | list) and output and read_payload(output, "assistant") is None:
        output = encode_json(output)
    if isinstance(output, str) and output.strip():
        trace.response = {**trace.response, "content": output}


def _warn_of_estimates(trace: Trace, spans: list[Span]) -> None:
    estimated = 0
    for span in spans:
        row, attributes = span.attributes["row"], span.attributes["attributes"]
        is_counted = row.get("type") == "GENERATION" and bool(row.get("usageDetails"))
        estimated += is_counted and is_estimated(row, attributes)
    if not estimated or trace.usage["total_tokens"] is not None:
        return
    message = f"{estimated} generations record no tokens: Langfuse's own counts are estimates and are left out"
    add_warning(trace, "estimated_usage", message, "usage")


READER = Reader(build=build, identify=identify, shapes=(), split=split)
