"""Finds out which evidence the spans of a run lack, such as model calls whose output was not recorded.

OpenTelemetry's instrumentations record no content unless the user turns it on: then a model may have asked for
any tool. What a model asked for is known from its output, from a later request that repeats it, or from the spans
of the tools that ran after it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.adapters.formats.core.builder.evidence_gaps import OF_MESSAGES, add_gap, note_opaque
from evalgate.adapters.formats.core.builder.run import add_warning
from evalgate.adapters.formats.core.strict_json import make_printable
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.spans.span import UNKNOWN, nodes_of_kind
from evalgate.models.trace.trace import OPAQUE, list_names

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.span import Span, SpanNode
    from evalgate.models.trace.trace import Trace

OPENTELEMETRY = (
    "set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and "
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT (older versions: true), and export logs too"
)
ANY = "turn on content capture in the tracer"
BY_ATTRIBUTE = (
    ("claude_code.", "set OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1"),
    ("gcp.vertex.agent.llm_request", "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    ("gcp.vertex.agent.tool_call_args", "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    ("gcp.vertex.agent.", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"),
    ("openinference.", "unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the like"),
    ("traceloop.", "set TRACELOOP_TRACE_CONTENT=true"),
    ("llm.request.type", "set TRACELOOP_TRACE_CONTENT=true"),
    ("langsmith.", "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS"),
    ("trace.span", "these spans of the SDK hold no content: record with an OpenTelemetry instrumentation instead"),
    ("run_type", "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS, and export all runs with inputs and outputs"),
    ("langfuse.", "record input and output of every generation and tool"),
    ("row", "record input and output of every generation and tool, and export all observations"),
    ("mlflow.", "record inputs and outputs of every span"),
    ("ai.operationId", "set `recordInputs` and `recordOutputs` of `experimental_telemetry` to true"),
    ("logfire.", "set `include_content=True` in `InstrumentationSettings`"),
    ("gen_ai.", OPENTELEMETRY),
)
"""The setting of a tracer, by the start of an attribute's name; the first that a span has is named."""
BY_SCOPE = (
    ("com.anthropic.sdk", "set ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
    ("agent_framework", "set ENABLE_SENSITIVE_DATA=true"),
    ("pydantic-ai", "set `include_content=True` in `InstrumentationSettings`"),
)


def find_capture_setting(spans: Iterable[Span]) -> str:
    """How to record content with the tracer of these spans."""
    for span in spans:
        for scope, setting in BY_SCOPE:
            if span.scope is not None and span.scope.startswith(scope):
                return setting
        for start, setting in BY_ATTRIBUTE:
            if span.name.startswith(start) or any(key.startswith(start) for key in span.attributes):
                return setting
    return ANY


CONVERSATION_KEYS = ("llm.output_messages.", "pydantic_ai.all_messages", "all_messages_events")
"""Starts of attributes with everything that an agent wrote, also before its final answer."""
TOOLS_OF_CODE = "smolagents.tools_names"
WORD = re.compile(r"\w+")
NO_CONTENT = "the tracer did not capture content"
TOOLS_OF_AGENT = "only the agent's span was recorded, neither its model calls nor its tools: record them too"


def add_span_gaps(trace: Trace, nodes: list[SpanNode], calls: Sequence[ModelCall]) -> None:
    """Notes what the spans of the trace don't record."""
    tools = nodes_of_kind(nodes, "tool")
    captured = {node.span.scope for call in calls if _has_content(call) for node in call.nodes}
    unknown = [one for own in _by_maker(calls) for one in _find_unknown(own, tools, nodes, captured)]
    if unknown:
        _add_content_gaps(trace, unknown, calls)
    elif (
        not calls
        and not tools
        and not trace.tool_calls
        and not any(map(holds_conversation, nodes_of_kind(nodes, "agent")))
    ):
        add_gap(trace, "calls", TOOLS_OF_AGENT)
    if calls and not trace.messages:
        add_gap(trace, "messages", f"{NO_CONTENT}: {find_capture_setting([call.best.span for call in calls])}")
    _add_tool_gaps(trace, tools)
    _note_silent_agents(trace, nodes)
    name = _find_called_in_code(trace, nodes, calls)
    if name is not None:
        add_gap(trace, "calls", f"the model's code calls `{make_printable(name)}`, but no tool's span records it")
    unreadable = next((one["where"] for one in trace.warnings if one["code"] == "content_unreadable"), None)
    if unreadable is not None:
        add_gap(trace, "calls", f"the messages in `{unreadable}` can't be read: don't truncate them")
    if any(any(node.span.dropped) for node in nodes):
        from evalgate.adapters.formats.spans.dropped import note_dropped  # few tracers reach their limits

        note_dropped(trace, nodes)


def is_recorded(messages: Iterable[RawMessage] | None) -> bool:
    """True if a message has content, even empty text."""
    return any(
        one.content is not None or one.calls or one.answers or one.reasoning or one.parts for one in messages or ()
    )


class OwnCalls(Struct):
    """The model calls of one agent, or of one tool that asks a model itself, by start."""

    maker: SpanNode | None
    calls: list[ModelCall]


def _by_maker(calls: Sequence[ModelCall]) -> list[OwnCalls]:
    found: dict[int, OwnCalls] = {}
    for call in calls:
        maker = _find_maker(call.best)
        found.setdefault(id(maker), OwnCalls(maker, [])).calls.append(call)
    return list(found.values())


def _find_maker(node: SpanNode) -> SpanNode | None:
    """The nearest agent or tool above."""
    above = node.within
    while above is not None and above.facts.kind == "inference":
        above = above.within
    return above


def _find_unknown(
    own: OwnCalls, tools: Sequence[SpanNode], nodes: Sequence[SpanNode], captured: Container[str | None]
) -> list[ModelCall]:
    """The calls of which it is not known which tools they asked for; `captured`: the tracers that record content."""
    if all(_is_known(call) for call in own.calls):
        return []
    maker = own.maker
    traced = [tool for tool in tools if _is_same_tracer(tool, own)]
    ran = [tool for tool in traced if _find_maker(tool) is maker]
    quoted = _count_quotes_after(own.calls)
    if maker is not None and _holds_answers(maker, own.calls):
        return []
    has_answer = maker is not None and is_recorded(maker.facts.output)
    last = len(own.calls) - 1
    unknown = []
    for index, call in enumerate(own.calls):
        until = own.calls[index + 1].start if index < last else UNKNOWN + 1
        if _is_known(call) or index < quoted[index] or _has_tool_between(ran, call.start, until):
            continue
        has_asked = _asked_for_tools(call)
        if index == last and ((has_answer and (traced or not has_asked)) or _has_handoff(call, nodes)):
            continue
        is_silent = call.get_fact("finish_reason") is None
        is_last_of_spans = index == last and not any(node.span.scope in captured for node in call.nodes)
        if not traced or has_asked or (is_silent and not is_last_of_spans):
            unknown.append(call)
    return unknown


def _is_known(call: ModelCall) -> bool:
    """True if the model failed, or its output is recorded; with the calls if it asked for tools."""
    output = call.get_fact("output")
    if not is_recorded(output):
        return call.best.span.has_failed
    return not _asked_for_tools(call) or any(message.calls for message in output)


def _asked_for_tools(call: ModelCall) -> bool:
    return finish_reason(call.get_fact("finish_reason")) == "tool_calls"


def _has_tool_between(tools: Sequence[SpanNode], start: int, until: int) -> bool:
    return any(start <= tool.start < until or tool.start == UNKNOWN for tool in tools)


def _is_same_tracer(tool: SpanNode, own: OwnCalls) -> bool:
    """True unless another tracer recorded the tool, such as that of MCP, which sees only its own tools."""
    around = [own.maker] if own.maker is not None else []
    return any(
        node.span.scope == tool.span.scope for node in (*around, *(node for call in own.calls for node in call.nodes))
    )


def _has_content(call: ModelCall) -> bool:
    return is_recorded(call.get_fact("input")) or is_recorded(call.get_fact("output"))


def _count_answers(messages: Iterable[RawMessage] | None) -> int:
    return sum(message.role == "assistant" for message in messages or ())


def _holds_answers(agent: SpanNode, calls: Sequence[ModelCall]) -> bool:
    """True if the agent's span holds as many answers after the last message of a user as there are calls.

    Some of them with calls, if a model call asked for tools.
    """
    messages = [*(agent.facts.input or ()), *(agent.facts.output or ())]
    asked = [at for at, message in enumerate(messages) if message.role == "user" and not message.answers]
    own = messages[asked[-1] :] if asked else messages
    has_calls = any(message.calls for message in own) or not any(map(_asked_for_tools, calls))
    return has_calls and len(calls) <= _count_answers(own)


def _count_quotes_after(calls: Sequence[ModelCall]) -> list[int]:
    """For each call, how many answers of these calls the requests after it quote; what came before them is left out."""
    requests = [call.get_fact("input") for call in calls]
    first = next((at for at, messages in enumerate(requests) if messages), 0)
    before = max(0, _count_answers(requests[first]) - first)
    most, found = 0, []
    for messages in reversed(requests):
        found.append(most)
        most = max(most, _count_quoted(messages) - before)
    return found[::-1]


def _count_quoted(messages: Iterable[RawMessage] | None) -> int:
    """The number of the model's earlier answers in a request; 0 if none of them has a call."""
    answers = [message for message in messages or () if message.role == "assistant"]
    return len(answers) if any(message.calls for message in answers) else 0


def _has_handoff(call: ModelCall, nodes: Iterable[SpanNode]) -> bool:
    """True if the agent of the call handed over to another one, which the OpenAI Agents SDK records as a span."""
    return any(node.owner is call.owner and node.span.attributes.get("type") == "handoff" for node in nodes)


def _note_silent_agents(trace: Trace, nodes: Sequence[SpanNode]) -> None:
    below = [node for node in nodes_of_kind(nodes, "agent") if node.span.parent_id is not None]
    agents = [node for node in below if not holds_conversation(node)]
    if agents:
        from evalgate.adapters.formats.spans.silent_agents import list_silent_agents  # many runs have one agent

        for silent in list_silent_agents(nodes, agents):
            silent_name = make_printable(silent.facts.agent or silent.span.name)
            add_warning(trace, OPAQUE, "nothing that the agent did is recorded", silent_name)
    note_opaque(trace)


def holds_conversation(agent: SpanNode) -> bool:
    """True if the span of an agent records the whole conversation, and not only question and final answer."""
    if any(key.startswith(CONVERSATION_KEYS) for key in agent.span.attributes):
        return True
    sides = (agent.facts.input, agent.facts.output)
    return any(len({message.role for message in side or ()} & {"user", "assistant"}) > 1 for side in sides)


def _find_called_in_code(trace: Trace, nodes: Sequence[SpanNode], calls: Sequence[ModelCall]) -> str | None:
    """A tool of smolagents that a model's code calls and that no tool's span records."""
    listed = [node.span.attributes[TOOLS_OF_CODE] for node in nodes if TOOLS_OF_CODE in node.span.attributes]
    if not listed:
        return None
    offered = {name for names in listed for name in WORD.findall(str(names))}
    code = "".join(message.content or "" for call in calls for message in call.get_fact("output") or ())
    unread = offered - {name for call in trace.tool_calls for name in list_names(call)}
    return next((name for name in sorted(unread) if re.search(rf"\b{name}\(", code)), None)


def _add_content_gaps(trace: Trace, unknown: Sequence[ModelCall], calls: Sequence[ModelCall]) -> None:
    setting = find_capture_setting([node.span for call in unknown for node in call.nodes])
    asked = [call for call in unknown if is_recorded(call.get_fact("output"))]
    if len(asked) == len(unknown):
        reason = f"{_count(len(unknown), len(calls))} asked for tools (finish_reason tool_calls) that are not recorded"
        add_gap(trace, "calls", f"{reason}: {setting}")
        return
    if not any(is_recorded(call.get_fact("output")) for call in calls):
        reason = NO_CONTENT
    else:
        reason = f"the output of {_count(len(unknown), len(calls))} is not recorded"
    for kind in OF_MESSAGES:
        add_gap(trace, kind, f"{reason}: {setting}")


def _count(some: int, every: int) -> str:
    return f"{some:,} of {every:,} model calls"


def _add_tool_gaps(trace: Trace, tools: Sequence[SpanNode]) -> None:
    """Notes arguments and results that no tool's span records, and no message either."""
    if not tools:
        return
    nameless = next((tool.span.name for tool in tools if tool.facts.tool_name is None), None)
    if nameless is not None:
        add_gap(trace, "calls", f"no attribute names the tool of the span {make_printable(nameless[:60])}")
    has_results = any(call["result"] is not None or call["error"] is not None for call in trace.tool_calls)
    if has_results:
        return
    setting = find_capture_setting([node.span for node in tools])
    if not any(call["arguments"] is not None or call["arguments_raw"] for call in trace.tool_calls):
        add_gap(trace, "arguments", f"no tool's span records its arguments: {setting}")
    add_gap(trace, "results", f"no tool's span records its result: {setting}")
