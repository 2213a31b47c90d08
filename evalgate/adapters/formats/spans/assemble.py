"""Builds a Trace from the spans of one run, with each message and each call counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.adapters.formats.core.builder.conversation import (
    RawMessage,
    build_recorded_call_key,
    conversation_from_messages,
    get_instructions,
)
from evalgate.adapters.formats.core.builder.evidence_gaps import note_acts
from evalgate.adapters.formats.core.builder.run import warn_of_missing_results
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.core.usage import finish_reason, read_cost_usd, split_provider_and_model
from evalgate.adapters.formats.messages.kept_elsewhere import note_earlier
from evalgate.adapters.formats.spans import dialects
from evalgate.adapters.formats.spans.aggregate import (
    ModelCall,
    compute_usage,
    duration_ms,
    model_calls,
    outermost_agents,
    sort_failed_last,
)
from evalgate.adapters.formats.spans.executions import list_executions
from evalgate.adapters.formats.spans.free_attributes import describe_attribute, list_free_attributes
from evalgate.adapters.formats.spans.missing_evidence import add_span_gaps
from evalgate.adapters.formats.spans.other_spans import list_other_spans
from evalgate.adapters.formats.spans.run_status import add_status
from evalgate.adapters.formats.spans.span import BOUNDARY_KINDS, SpanNode, build_tree, nodes_of_kind
from evalgate.adapters.formats.spans.timeline import Timeline, clock_warnings, format_rfc3339
from evalgate.adapters.formats.spans.tool_calls import merge_tool_calls
from evalgate.adapters.formats.spans.unread_attributes import find_unread_calls
from evalgate.errors import TraceError
from evalgate.models.trace.trace import Trace, unknown_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.formats.core.builder.conversation import CallKey, Conversation
    from evalgate.adapters.formats.spans.span import Span, SpanFacts
    from evalgate.models.trace.trace import LlmCall, ToolCall, Warning_


def outermost_calls(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The model calls of the outermost agent by start, without those of its sub-agents."""
    owned = [call for call in calls if call.owner is not None] or list(calls)
    captured = [call for call in owned if call.get_fact("input") or call.get_fact("output")] or owned
    depth = min((call.depth for call in captured), default=0)
    return [call for call in captured if call.depth == depth]


def build_conversation(nodes: list[SpanNode], main: Sequence[ModelCall]) -> Conversation:
    """Builds the conversation of the outermost agent: instructions, messages and tool results."""
    agents = _speaking_agents(nodes)
    messages = _call_messages(main)
    own = [*(agents[-1].facts.input or []), *(agents[-1].facts.output or [])] if agents else []
    if not messages or _count_parts(own) > _count_parts(messages):
        messages = own
    elif messages[0].role == "assistant" and own and own[0].role != "assistant":
        messages = [*_messages_before_answer(own), *messages]
    messages = [_copy_message(message) for message in messages]
    if messages and all(message.role != "system" for message in messages):
        instructions = find_instructions(main, agents)
        messages[:0] = [RawMessage("system", instructions)] if instructions else []
    _add_final_answer(messages, agents)
    _pair_ids(messages)
    return conversation_from_messages(messages)


def find_instructions(main: Sequence[ModelCall], agents: Sequence[SpanNode]) -> str | None:
    """The instructions of the outermost agent, if recorded apart from its messages."""
    prompts = [call.get_fact("system") for call in reversed(main)] + [agent.facts.system for agent in agents]
    return next((system for system in prompts if system), None)


def _speaking_agents(nodes: list[SpanNode]) -> list[SpanNode]:
    """The outermost agents with recorded input or output, by end."""
    agents = [node for node in nodes_of_kind(nodes, "agent") if node.facts.input or node.facts.output]
    depth = min((agent.depth for agent in agents), default=0)
    return sorted((agent for agent in agents if agent.depth == depth), key=lambda agent: agent.end)


def _call_messages(main: Sequence[ModelCall]) -> list[RawMessage]:
    """The last call's input and output if they hold all earlier messages, else those of several calls."""
    captured = [call for call in main if call.get_fact("input") or call.get_fact("output")]
    if not captured:
        return []
    last = max(captured, key=lambda call: call.place)
    given = last.get_fact("input") or []
    for call in captured:
        _add_finish_reason(call)
    ordered = [call for call in captured if call is not last] + [last]
    if any(message.role == "assistant" for message in given) or len(captured) == 1:
        return [*given, *(last.get_fact("output") or [])]
    if given and any(message.role == "user" and not message.answers for message in given):
        return _join_equal_inputs(ordered, given)
    # each call records only new messages
    return [item for call in ordered for part in ("input", "output") for item in call.get_fact(part) or []]


def _add_finish_reason(call: ModelCall) -> None:
    """Copies the call's finish reason to its last message, if that has none."""
    output = call.get_fact("output")
    if output and output[-1].role == "assistant" and output[-1].finish_reason is None:
        output[-1].finish_reason = call.get_fact("finish_reason")


def _join_equal_inputs(calls: list[ModelCall], given: list[RawMessage]) -> list[RawMessage]:
    """Joins calls whose input is the same first one, as some tracers record it, with their tool requests."""
    signature = _signature(given)
    same_input = [call for call in calls[:-1] if _signature(call.get_fact("input") or []) == signature]
    asking = [call for call in same_input if any(message.calls for message in call.get_fact("output") or [])]
    seen: set[tuple[str | None, CallKey]] = set()
    answers: list[RawMessage] = []
    for call in [*asking, calls[-1]]:
        output = call.get_fact("output") or []
        asked_for = [one for message in output for one in message.calls]
        keys = {(one.id, build_recorded_call_key(one.name, one.arguments)) for one in asked_for if one.id is not None}
        answers += [] if keys and keys <= seen else output  # the same answer, recorded twice
        seen |= keys
    return [*given, *answers]


def _messages_before_answer(own: list[RawMessage]) -> list[RawMessage]:
    """The messages before the agent's first one."""
    end = next((at for at, message in enumerate(own) if message.role == "assistant"), len(own))
    return own[:end]


def _add_final_answer(messages: list[RawMessage], agents: Sequence[SpanNode]) -> None:
    """Appends the outermost agent's final answer, unless the last assistant message already holds it."""
    answered = next((agent for agent in reversed(agents) if agent.facts.output), None)
    if answered is None or not messages:
        return
    last = answered.facts.output[-1] if answered.facts.output else None
    if last is None or last.role != "assistant" or not last.content or last.calls:
        return
    text = next((one.content for one in reversed(messages) if one.role == "assistant" and one.content), "")
    if (text or "").strip() != last.content.strip():
        messages.append(RawMessage("assistant", last.content, agent=answered.facts.agent))


def _pair_ids(messages: list[RawMessage]) -> None:
    """Pairs calls and results with different ids, as some tracers record them, in their order."""
    asked = {call.id for message in messages for call in message.calls}
    answered = {answer.id for message in messages for answer in message.answers}
    calls = [call for message in messages for call in message.calls if call.id and call.id not in answered]
    unmatched = [
        (message, at)
        for message in messages
        for at, answer in enumerate(message.answers)
        if answer.id and answer.id not in asked
    ]
    if not unmatched or len(calls) < len(unmatched):
        return
    for (message, at), call in zip(unmatched, calls, strict=False):
        message.answers[at] = message.answers[at]._replace(id=call.id)


def _copy_message(message: RawMessage) -> RawMessage:
    """Copies a message before it is changed, since several spans may share it."""
    return replace(message, calls=list(message.calls), answers=list(message.answers))


def _count_parts(messages: Sequence[RawMessage]) -> int:
    return sum(1 + len(message.calls) + len(message.answers) for message in messages if message.role != "system")


def _signature(messages: Sequence[RawMessage]) -> list[tuple[str, str | None]]:
    return [
        (message.role, message.content or encode_json([answer.content for answer in message.answers]))
        for message in messages
    ]


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
    tools = list_executions(nodes)
    found = merge_tool_calls(conversation, calls, tools, nodes_of_kind(nodes, "agent"), timeline)
    trace = Trace(
        nodes[0].span.trace_id,
        conversation.messages,
        found,
        conversation.get_response(),
        llm_calls=_llm_calls(sort_failed_last(calls), timeline, found, tools),
        warnings=conversation.list_warnings(),
    )
    trace.other_spans = list_other_spans(nodes)
    _add_names(trace, nodes, calls)
    _add_totals(trace, nodes, calls)
    add_status(trace, nodes, main)
    trace.system_instructions = find_instructions(main, nodes_of_kind(nodes, "agent")) or get_instructions(
        trace.messages
    )
    trace.warnings += [*warn_of_missing_results(found), *_content_warnings(trace, nodes)]
    add_span_gaps(trace, nodes, calls)
    note_earlier(trace, map(_list_settings, calls))
    find_unread_calls(trace, nodes)
    note_acts(trace, list(list_free_attributes(nodes)), describe_attribute)
    return trace


def _list_settings(call: ModelCall) -> tuple[str | None, list[Any]]:
    """The id of the answer, which is empty if there is none, and all that its spans record of the request."""
    answer = "" if call.find_error() else call.get_fact("response_id")
    return answer, [node.span.attributes for node in call.nodes]


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
