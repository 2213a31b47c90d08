"""Builds a trace from the spans that DeepEval recorded; read from the code of its version 4.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import build_call
from evalgate.adapters.formats.core.builder.run import read_tags, set_final_response
from evalgate.adapters.formats.core.builder.side_fields import set_scenario_and_trial
from evalgate.adapters.formats.core.fields import (
    dict_or_empty,
    do_each,
    get_field,
    mapping,
    objects,
    required_text,
    text,
    to_camel_case,
)
from evalgate.adapters.formats.core.python_literals import unwrap_text
from evalgate.adapters.formats.core.strict_json import encode_json, encode_text
from evalgate.adapters.formats.deepeval import SPANS
from evalgate.adapters.formats.deepeval.figures import USAGE, read_scores
from evalgate.adapters.formats.deepeval.names import CALL_LISTS
from evalgate.adapters.formats.messages.sniff_messages import read_exchange, read_payload
from evalgate.adapters.formats.spans import assemble
from evalgate.adapters.formats.spans.dialects.platforms import add_tool_exchange
from evalgate.adapters.formats.spans.encodings.values import parse_time
from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace

KINDS: dict[str, SpanKind] = {"agent": "agent", "llm": "inference", "tool": "tool"}
"""By the type of a span; the outermost one of another type is that of the agent."""
FAILED = "ERRORED"
ARGUMENTS = "evalgate.arguments"
"""The attribute for the arguments that a tool's span lists."""


def build_from_spans(recorded: dict[str, Any]) -> Trace:
    """The trace of one run; raises TraceError if no span records what an agent did."""
    spans: list[Span] = []
    trace_id = text(recorded.get("uuid"), "uuid") or ""
    rows = [span for name in sorted(SPANS) for span in objects(get_field(recorded, name), to_camel_case(name))]
    do_each(rows, "spans", lambda span: spans.append(_read_span(trace_id, span)))
    trace = assemble.build(spans, read_facts)
    trace.trace_id = trace_id
    trace.name = text(recorded.get("name"), "name")
    trace.conversation_id = text(get_field(recorded, "thread_id"), "threadId")
    trace.tags = read_tags(recorded.get("tags"), "tags")
    trace.metadata = mapping(recorded.get("metadata"), "metadata")
    set_scenario_and_trial(trace, trace.metadata)
    trace.evaluations = read_scores(recorded)
    _add_listed_calls(trace, [recorded, *rows])
    if trace.response["content"] is None:
        _add_answer(trace, recorded.get("output"))
    if recorded.get("status") == FAILED:
        trace.status, trace.error = "error", trace.error or {"type": None, "message": None}
    return trace


def _read_span(trace_id: str, span: dict[str, Any]) -> Span:
    attributes = {**span, ARGUMENTS: _find_arguments(span)}
    return Span(
        trace_id,
        required_text(span.get("uuid"), "uuid"),
        text(get_field(span, "parent_uuid"), "parentUuid"),
        text(span.get("name"), "name") or "",
        parse_time(get_field(span, "start_time"), "startTime"),
        parse_time(get_field(span, "end_time"), "endTime"),
        {key: value for key, value in attributes.items() if key not in CALL_LISTS},
        has_failed=span.get("status") == FAILED or bool(span.get("error")),
        status_message=text(span.get("error"), "error"),
    )


def read_facts(span: Span) -> SpanFacts:
    """The facts of a span; those of other types repeat what is in the spans below them."""
    recorded = span.attributes
    kind = KINDS.get(str(recorded.get("type")), "other")
    facts = SpanFacts("agent" if kind == "other" and span.parent_id is None else kind)
    if kind == "tool":
        facts.tool_name = span.name or None
        add_tool_exchange(facts, recorded.get("input"), recorded.get("output"))
        facts.arguments = recorded[ARGUMENTS] or facts.arguments
    elif facts.kind != "other":
        facts.input, facts.output = read_exchange(*(_add_types(recorded.get(key)) for key in ("input", "output")))
        facts.agent = span.name or None if facts.kind == "agent" else None
    if kind == "inference":
        facts.provider = text(recorded.get("provider"), "provider")
        facts.model = text(recorded.get("model"), "model")
        facts.usage = USAGE.read_if_counted(recorded, "")
        facts.finish_reason = text(
            dict_or_empty(recorded.get("metadata")).get("finish_reason"), "metadata.finish_reason"
        )
    if span.has_failed:
        facts.error_type = (span.status_message or "").partition(":")[0][:80].strip() or "error"
    return facts


def _find_arguments(recorded: dict[str, Any]) -> Any:
    """The arguments of the call that a tool's span lists as its own, as its input may hold the framework's, too."""
    listed = get_field(recorded, "tools_called")
    calls = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return next(
        (get_field(call, "input_parameters") for call in calls if call.get("name") == recorded.get("name")), None
    )


def _add_types(value: Any) -> Any:
    """Items of the Responses API with their types, and a call of Bedrock in a message: two integrations drop these."""
    value = unwrap_text(value)
    if isinstance(value, list):
        return [_add_type(each) for each in value]
    if isinstance(value, dict) and "toolUse" in value:
        return {"role": "assistant", "content": [value]}
    return _add_type(value)


def _add_type(item: Any) -> Any:
    if not isinstance(item, dict) or "type" in item:
        return item
    if item.keys() >= {"name", "arguments"}:
        return {**item, "type": "function_call"}
    return {**item, "type": "function_call_output"} if item.keys() >= {"call_id", "output"} else item


def _add_listed_calls(trace: Trace, holders: list[dict[str, Any]]) -> None:
    """Adds the calls that the trace and its spans list, of tools that no span and no answer of a model names."""
    known = {call["name"] for call in trace.tool_calls}
    listed = [tool for each in holders for tool in objects(get_field(each, "tools_called"), "toolsCalled")]
    for tool in listed:
        name = required_text(tool.get("name"), "toolsCalled.name")
        if name in known:
            continue
        call = build_call(name, get_field(tool, "input_parameters"), turn=1, step=1)
        call["index"] = len(trace.tool_calls)
        if tool.get("output") is not None:
            call["result"], call["result_text"], call["status"] = tool["output"], encode_text(tool["output"]), "unknown"
        trace.tool_calls.append(call)


def _add_answer(trace: Trace, output: Any) -> None:
    """What the run returned, where no model answered in text."""
    if output and not isinstance(output, str) and read_payload(output, "assistant") is None:
        output = encode_json(output)
    set_final_response(trace, output if isinstance(output, str) else None)
