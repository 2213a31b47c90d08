"""Reads spans of the OpenAI Agents SDK as its processors export them: `trace` and `trace.span` objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.builder.evidence_gaps import (
    Unknown,
    find_unknown,
    judge_unknown,
    note_unknown,
    pick_worse,
    shorten,
)
from evalgate.adapters.formats.core.builder.run import add_warning
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete
from evalgate.adapters.formats.core.builder.side_fields import identify_by_metadata, set_scenario_and_trial
from evalgate.adapters.formats.core.fields import (
    FieldError,
    dict_or_empty,
    do_each,
    mapping,
    required_text,
    text,
)
from evalgate.adapters.formats.core.format import EACH, Identity, Reader, Shape, words
from evalgate.adapters.formats.core.provider_response import RESPONSES_USAGE
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.messages.sniff_messages import read_exchange
from evalgate.adapters.formats.openai_agents import FRAMEWORK
from evalgate.adapters.formats.spans import assemble
from evalgate.adapters.formats.spans.encodings.values import parse_time
from evalgate.adapters.formats.spans.run_status import LOST
from evalgate.adapters.formats.spans.span import Span, SpanFacts
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.trace.trace import Trace


MODEL_SPANS = ("response", "generation")
OBJECTS = ("trace", "trace.span")
TOLERANCE = 1.01


class AgentsRun(NamedTuple):
    """The `trace` object and the spans of one trace."""

    head: Any
    spans: list[Any]
    unknown: Unknown | None = None


def split(documents: list[Any]) -> Sequence[AgentsRun]:
    """One run for each trace id, in order of appearance; objects of unknown kinds are noted."""
    heads: dict[str, Any] = {}
    spans: dict[str, list[Any]] = {}
    unknown: Unknown | None = None
    for item in _list_items(documents):
        if not isinstance(item, dict):
            continue
        kind = item.get("object")
        if isinstance(kind, str) and kind not in OBJECTS:
            unknown = pick_worse(unknown, judge_unknown(f"an entry has the unknown object `{shorten(kind)}`", item))
        trace_id = item.get("trace_id" if kind == "trace.span" else "id")
        if not isinstance(trace_id, str) or kind not in OBJECTS:
            continue
        trace_spans = spans.setdefault(trace_id, [])
        if kind == "trace":
            heads[trace_id] = item
        else:
            trace_spans.append(item)
    return [AgentsRun(heads.get(trace_id, {"id": trace_id}), found, unknown) for trace_id, found in spans.items()]


def build(record: AgentsRun) -> Trace:
    """Builds one run; a response span has its id and tokens, but neither messages nor the model."""
    require_shallow([record.head, record.spans])
    if not record.spans:
        raise TraceError("the trace has no spans")
    spans: list[Span] = []
    do_each(record.spans, "spans", lambda item: spans.append(_read_span(item)))
    trace = assemble.build(spans, read_facts)
    trace.trace_id = required_text(record.head.get("id"), "id")
    trace.name = text(record.head.get("workflow_name"), "workflow_name")
    trace.conversation_id = text(record.head.get("group_id"), "group_id")
    trace.metadata = {**trace.metadata, **mapping(record.head.get("metadata"), "metadata")}
    set_scenario_and_trial(trace, trace.metadata)
    _compare_totals(trace, record.spans)
    if trace.status == "ok" and _has_lost_agent(spans):
        mark_incomplete(trace, LOST)
    note_unknown(trace, pick_worse(record.unknown, find_unknown(record.spans, SHAPES)))
    return trace


def _has_lost_agent(spans: Sequence[Span]) -> bool:
    """Whether what an agent did stands below a span that is missing: the SDK exports a span when it has ended.

    An agent itself may be called by a span that is left out.
    """
    known = {None, *(span.span_id for span in spans)}
    return any(span.parent_id not in known and span.attributes.get("type") != "agent" for span in spans)


def identify(record: AgentsRun) -> Identity:
    """Scenario and trial from the trace's metadata."""
    return identify_by_metadata(record.head.get("metadata"))


def read_facts(span: Span) -> SpanFacts:
    """Reads facts from a span; turns and tasks are skipped, since they repeat the usage of their parts."""
    data = span.attributes
    handle = HANDLERS.get(data["type"]) if isinstance(data.get("type"), str) else None
    facts = SpanFacts("other") if handle is None else handle(data)
    facts.framework = FRAMEWORK
    if span.has_failed:
        facts.error_type = facts.error_type or "error"
    return facts


def _list_items(documents: list[Any]) -> list[Any]:
    """Lists traces and spans; a trace may contain its spans or come separately."""
    items: list[Any] = []
    for document in documents:
        listed = document.get("data") if isinstance(document, dict) else document
        for item in listed if isinstance(listed, list) else [document]:
            held = item.get("spans") if isinstance(item, dict) else None
            items += [item.get("trace", item), *held] if isinstance(held, list) else [item]
    return items


def _read_span(item: dict[str, Any]) -> Span:
    error = item.get("error")
    details = error if isinstance(error, dict) else {}
    message = details.get("message", error)
    found = Span(
        required_text(item.get("trace_id"), "trace_id"),
        required_text(item.get("id"), "id"),
        text(item.get("parent_id"), "parent_id"),
        str(item.get("object")),
        parse_time(item.get("started_at"), "started_at"),
        parse_time(item.get("ended_at"), "ended_at"),
        mapping(item.get("span_data"), "span_data"),
        has_failed=error is not None,
        status_message=message if isinstance(message, str) else None,
    )
    cause = dict_or_empty(details.get("data")).get("error")
    if isinstance(cause, str) and found.attributes.get("type") in MODEL_SPANS:
        found.status_message = f"{found.status_message}: {cause}"
    return found


def _read_response(data: dict[str, Any]) -> SpanFacts:
    """The facts of a model call, from the span of a response or of a generation."""
    usage = data.get("usage")
    facts = SpanFacts(
        "inference",
        provider="openai" if data["type"] == "response" else None,
        response_id=text(data.get("response_id"), "span_data.response_id"),
        model=text(data.get("model"), "span_data.model"),
        usage=RESPONSES_USAGE.read(usage, "span_data.usage") if usage else None,
    )
    facts.input, facts.output = read_exchange(data.get("input"), data.get("output"))
    return facts


def _read_function(data: dict[str, Any]) -> SpanFacts:
    return SpanFacts(
        "tool",
        tool_name=required_text(data.get("name"), "span_data.name"),
        arguments=data.get("input"),
        result=data.get("output"),
    )


def _read_agent(data: dict[str, Any]) -> SpanFacts:
    return SpanFacts("agent", agent=text(data.get("name"), "span_data.name"))


HANDLERS: dict[str, Callable[[dict[str, Any]], SpanFacts]] = {
    "response": _read_response,
    "generation": _read_response,
    "function": _read_function,
    "agent": _read_agent,
}


OTHER_SPANS = words("""
    handoff guardrail custom mcp_tools transcription speech speech_group task turn
""")
SPAN_HOLDERS = words("data handoffs tools usage input output mcp_data response model_config result metadata")
SHAPES = (
    Shape((EACH,), words("span_data error metadata")),
    Shape((EACH, "span_data"), SPAN_HOLDERS, OTHER_SPANS.union(HANDLERS)),
)


def _compare_totals(trace: Trace, spans: list[Any]) -> None:
    """Warns if the task's recorded total differs from the sum over its responses."""
    totals = [_task_total(item) for item in spans]
    known = sum(total for total in totals if total is not None)
    counted = trace.usage["total_tokens"]
    if not known or counted is None or max(known, counted) <= min(known, counted) * TOLERANCE:
        return
    message = f"the task's span records {known:,} tokens, its responses used {counted:,}: their sum is used"
    add_warning(trace, "total_mismatch", message, "usage")


def _task_total(item: dict[str, Any]) -> int | None:
    data = item["span_data"].get("data") if isinstance(item.get("span_data"), dict) else None
    if not isinstance(data, dict) or data.get("sdk_span_type") != "task":
        return None
    try:
        return RESPONSES_USAGE.read(data.get("usage"), "usage")["total_tokens"]
    except FieldError:
        return None


READER = Reader(build=build, identify=identify, shapes=(), split=split)
