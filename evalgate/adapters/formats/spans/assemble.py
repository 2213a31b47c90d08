"""Builds a Trace from the spans of one run, with each message and each call counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.core.builder.run import warn_of_missing_results
from evalgate.adapters.formats.core.usage import finish_reason, read_cost_usd, split_provider_and_model
from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.aggregate import (
    ModelCall,
    compute_usage,
    duration_ms,
    model_calls,
    outermost_agents,
    sort_failed_last,
)
from evalgate.adapters.formats.spans.missing_evidence import add_span_gaps
from evalgate.adapters.formats.spans.span_clock import clock_warnings, format_rfc3339
from evalgate.adapters.formats.spans.span_conversation import build_conversation, find_instructions, outermost_calls
from evalgate.adapters.formats.spans.timeline import Timeline
from evalgate.adapters.formats.spans.tool_calls import merge_tool_calls
from evalgate.adapters.formats.spans.tree import BOUNDARY_KINDS, SpanNode, build_tree, nodes_of_kind
from evalgate.adapters.formats.spans.unread_attributes import find_unread_calls
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.formats.spans.span import Span, SpanFacts
    from evalgate.models.trace.trace import LlmCall, ToolCall, Warning_


def build(spans: Sequence[Span], read_facts: Callable[[Span], SpanFacts] = dialects.read_facts) -> Trace:
    """Builds one trace from spans in any order; raises TraceError if no span belongs to an agent's run.

    `read_facts` reads a span: by default through the tracer dialects, or from the columns of an export.
    """
    nodes = build_tree(spans, read_facts)
    if not any(node.facts.kind in BOUNDARY_KINDS and not node.is_excluded for node in nodes):
        raise TraceError(f"no span records what an agent did ({len(nodes):,} spans)")
    calls = model_calls(nodes)
    main = outermost_calls(calls)
    conversation = build_conversation(nodes, main)
    timeline = Timeline(conversation, main, calls)
    tools = _executions(nodes)
    found = merge_tool_calls(conversation, calls, tools, timeline)
    trace = Trace(
        nodes[0].span.trace_id,
        conversation.messages,
        found,
        conversation.get_response(),
        llm_calls=_llm_calls(sort_failed_last(calls), timeline, found, tools),
        warnings=conversation.list_warnings(),
    )
    _add_names(trace, nodes, calls)
    _add_totals(trace, nodes, calls)
    _add_status(trace, nodes, main)
    trace.system_instructions = find_instructions(main, nodes_of_kind(nodes, "agent")) or get_instructions(
        trace.messages
    )
    trace.warnings += [*warn_of_missing_results(found), *_content_warnings(trace, nodes)]
    add_span_gaps(trace, nodes, calls)
    find_unread_calls(trace, nodes)
    return trace


def _executions(nodes: list[SpanNode]) -> list[SpanNode]:
    """Tool spans, without those nested in a span of the same tool (a client's within an agent's).

    If both have the same call id, an error of the inner span is copied to the outer one.
    """
    found = []
    for node in nodes_of_kind(nodes, "tool"):
        outer = node.within
        if outer is None or outer.facts.kind != "tool" or not _is_same_tool(outer.facts, node.facts):
            found.append(node)
        elif outer.facts.tool_call_id is not None and outer.facts.tool_call_id == node.facts.tool_call_id:
            failed = node.facts.error_type or ("error" if node.span.has_failed else None)
            outer.facts.error_type = outer.facts.error_type or failed
    return found


def _is_same_tool(outer: SpanFacts, inner: SpanFacts) -> bool:
    is_same_call = outer.tool_call_id is not None and outer.tool_call_id == inner.tool_call_id
    return outer.tool_name == inner.tool_name or (inner.tool_name is None and is_same_call)


def _llm_calls(
    calls: list[ModelCall], timeline: Timeline, found: Sequence[ToolCall], tools: Sequence[SpanNode]
) -> list[LlmCall]:
    """The model calls; a failed last one comes after the steps of all tools, unless one ran after it."""
    llm_calls = [_llm_call(call, index, timeline) for index, call in enumerate(calls)]
    if llm_calls and "error" in llm_calls[-1] and all(tool.start < calls[-1].end for tool in tools):
        llm_calls[-1]["step"] = max(llm_calls[-1]["step"], *(call["step"] + 1 for call in found), 1)
    return llm_calls


def _llm_call(call: ModelCall, index: int, timeline: Timeline) -> LlmCall:
    step, turn = timeline.position_of_call(call)
    usage, error = call.usage, call.find_error()
    found: LlmCall = {
        "index": index,
        "turn": turn,
        "step": step,
        "provider": call.get_fact("provider"),
        "model": call.get_fact("model"),
        "response_id": call.get_fact("response_id"),
        "usage": usage,
        "cost_usd": read_cost_usd(call.get_fact("cost_usd"), usage or unknown_usage(), "cost")[0]["usd"],
        "duration_ms": call.duration_ms,
        "finish_reason": finish_reason(call.get_fact("finish_reason")),
    }
    if error is not None:
        found["error"] = error
    return found


def _add_totals(trace: Trace, nodes: list[SpanNode], calls: list[ModelCall]) -> None:
    found = compute_usage(nodes, calls)
    trace.usage, trace.cost = found.usage, found.cost
    whole = outermost_agents(nodes) or [node for node in nodes if node.facts.kind in BOUNDARY_KINDS]
    total = duration_ms(whole)
    if total is not None:
        trace.latency = {"total_ms": total, "source": "span"}
    starts = [node.span.start_ns for node in whole if node.span.start_ns is not None]
    ends = [node.span.end_ns for node in whole if node.span.end_ns is not None]
    trace.started_at = format_rfc3339(min(starts, default=None))
    trace.ended_at = format_rfc3339(max(ends, default=None))
    trace.warnings += [*found.warnings, *clock_warnings(total, calls)]


def _add_names(trace: Trace, nodes: list[SpanNode], calls: list[ModelCall]) -> None:
    """Adds agent, model, scenario, tags and metadata; the outermost agents' values come first."""
    agents = outermost_agents(nodes)
    sources = [node.facts for node in (*agents, *nodes) if not node.is_excluded]
    largest = max(calls, key=_output_tokens, default=None)
    trace.provider = (largest and largest.get_fact("provider")) or _first(sources, "provider")
    trace.model = (largest and largest.get_fact("model")) or _first(sources, "model")
    if trace.provider is None:
        trace.provider, trace.model = split_provider_and_model(trace.model)
    name, framework = _first(sources, "agent"), _first(sources, "framework")
    if name or framework:
        trace.agent = {"name": name, "framework": framework}
    trace.conversation_id = _first(sources, "conversation_id")
    trace.scenario_id, trace.trial = _first(sources, "scenario_id"), _first(sources, "trial")
    trace.tool_definitions = (
        _first([call.best.facts for call in calls], "tool_definitions") or _first(sources, "tool_definitions") or []
    )
    trace.tags = list(dict.fromkeys(tag for facts in sources for tag in facts.tags))
    for facts in sources:
        for key, value in facts.metadata.items():
            trace.metadata.setdefault(key, value)
    trace.evaluations = [one for node in nodes for one in node.facts.evaluations]


def _add_status(trace: Trace, nodes: list[SpanNode], main: list[ModelCall]) -> None:
    """Sets status and error as of the outermost agents, else of the last model call or tool."""
    agents = outermost_agents(nodes)
    last = max(main, key=lambda call: call.end, default=None)
    ends = agents or ([last.best] if last else nodes_of_kind(nodes, "tool")[-1:])
    failed = next((node for node in ends if node.span.has_failed), None)
    if last is not None:
        trace.finish_reason = finish_reason(last.get_fact("finish_reason"))
    if failed is not None:
        trace.status = "error"
        trace.error = {"type": failed.facts.error_type, "message": failed.span.status_message}
    elif any(node.span.start_ns is not None and node.span.end_ns is None for node in agents):
        trace.status = "incomplete"
        message = "the agent's span has no end: the run was stopped, or exported before it ended"
        trace.warnings.append({"code": "incomplete", "message": message, "where": None})


def _content_warnings(trace: Trace, nodes: list[SpanNode]) -> list[Warning_]:
    warnings: list[Warning_] = []
    for node in nodes:
        warnings += [one for one in node.facts.warnings if one not in warnings]
    if not trace.messages:
        message = "no span records any content: content capture was off in the tracer"
        warnings.append({"code": "content_not_captured", "message": message, "where": "messages"})
    return warnings


def _output_tokens(call: ModelCall) -> int:
    usage = call.usage
    return -1 if usage is None else usage["output_tokens"] or 0


def _first(sources: Sequence[SpanFacts], name: str) -> Any:
    return next((value for facts in sources if (value := getattr(facts, name)) not in (None, [])), None)
