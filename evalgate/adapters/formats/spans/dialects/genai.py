"""Reads all versions of OpenTelemetry's GenAI semantic conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.messages.genai import join_text_parts
from evalgate.adapters.formats.messages.roles import read_message
from evalgate.adapters.formats.spans.dialects.attributes import (
    add_texts,
    add_usage,
    decode,
    dollars,
    first,
    first_text,
    list_texts,
    read_messages,
    read_usage,
)
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.core.builder.conversation import RawMessage
    from evalgate.adapters.formats.spans.span import Span, SpanEvent, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Usage

LANGSMITH_KIND = "langsmith.span.kind"
OPERATION = "gen_ai.operation.name"
KINDS: dict[str, SpanKind] = {
    "chat": "inference",
    "generate_content": "inference",
    "text_completion": "inference",
    "call_llm": "inference",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "agent",
    "embeddings": "excluded",
    "evaluate": "excluded",
}
NO_PROVIDERS = ("gcp.vertex.agent", "langchain", "langgraph", "autogen")
NO_TOOL_PREFIXES = ("(merged", "N/A")
FINISH_REASONS = ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason", "anthropic.message.stop_reason")
USAGE = "gen_ai.usage."
TEXTS = {
    "model": ("gen_ai.response.model", "gen_ai.request.model"),
    "response_id": ("gen_ai.response.id",),
    "agent": ("gen_ai.agent.name",),
    "conversation_id": ("gen_ai.conversation.id",),
}
TOKENS = {
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "total_tokens": ("total_tokens",),
    "cache_read_input_tokens": ("cache_read.input_tokens", "cache_read_input_tokens", "details.cache_read_tokens"),
    "cache_write_input_tokens": (
        *("cache_write.input_tokens", "cache_creation.input_tokens", "cache_creation_input_tokens"),
        *("cache_write_input_tokens", "details.cache_write_tokens"),
    ),
    "reasoning_output_tokens": ("reasoning.output_tokens", "reasoning_tokens", "details.reasoning_tokens"),
}
# Some versions give an agent's sum a separate name, which a request never has.
USAGE_PREFIXES = {"agent": (USAGE, "gen_ai.aggregated_usage.")}


def kind_of(span: Span) -> SpanKind | None:
    """The kind by operation, else by attributes or events that only tools or requests have."""
    attributes = span.attributes
    if LANGSMITH_KIND in attributes:
        return None  # its operation is `chat` also for a prompt
    operation = attributes.get(OPERATION)
    if type(operation) is str:
        kind = KINDS.get(operation.lower(), "other")
        return "other" if kind == "tool" and _is_merged(span) else kind
    name = first_text(attributes, "gen_ai.tool.name")
    if name is not None and (
        first(attributes, "gen_ai.tool.call.id", "gen_ai.tool.call.arguments") is not None
        or attributes.get("mcp.method.name") == "tools/call"
    ):
        return "tool"
    if any(event.name.startswith("gen_ai.") and event.name in INFERENCE_EVENTS for event in span.events):
        return "inference"
    return None


INFERENCE_EVENTS = frozenset({"gen_ai.choice", "gen_ai.client.inference.operation.details"})


def add(span: Span, facts: SpanFacts) -> None:
    """Adds all facts that the conventions name."""
    attributes = span.attributes
    facts.provider = _provider(attributes)
    add_texts(facts, attributes, TEXTS)
    add_usage(facts, _read_usage(span, facts), "genai")
    facts.cost_usd = dollars(attributes, "gen_ai.usage.cost", "gen_ai.usage.cost_usd", "operation.cost")
    reasons = list_texts(first(attributes, *FINISH_REASONS))
    facts.finish_reason = reasons[-1] if reasons else None
    facts.system = join_text_parts(decode(attributes.get("gen_ai.system_instructions")))
    facts.tool_definitions = read_tool_definitions(decode(attributes.get("gen_ai.tool.definitions")))
    facts.input = read_messages(attributes.get("gen_ai.input.messages"), facts, "gen_ai.input.messages")
    answered = read_messages(attributes.get("gen_ai.output.messages"), facts, "gen_ai.output.messages")
    facts.output = keep_first_choice(keep_whole_answer(answered))
    add_event_messages(span, facts)
    if facts.kind == "tool":
        _add_tool(span, facts)


def keep_first_choice(messages: list[RawMessage] | None) -> list[RawMessage] | None:
    """Keeps the first of several finished messages: they are alternatives, and frameworks take the first."""
    if messages and len(messages) > 1 and all(one.finish_reason and not one.answers for one in messages):
        return messages[:1]
    return messages


def keep_whole_answer(messages: list[RawMessage] | None) -> list[RawMessage] | None:
    """Leaves out the pieces of a streamed answer where the whole follows them, as Google's ADK records both.

    A piece has no finish reason, and nothing that the whole has not.
    """
    if not messages or len(messages) == 1:
        return messages
    *pieces, whole = messages
    if not whole.finish_reason or any(piece.finish_reason or not _is_piece(piece, whole) for piece in pieces):
        return messages
    texts = [("".join(getattr(piece, kind) or "" for piece in pieces), kind) for kind in ("content", "reasoning")]
    return [whole] if all(joined in ("", getattr(whole, kind)) for joined, kind in texts) else messages


def _is_piece(piece: RawMessage, whole: RawMessage) -> bool:
    """Whether all calls of a message are in the whole one, as far as it has their arguments."""
    calls: dict[tuple[str | None, str], Any] = {(call.id, call.name): call.arguments for call in whole.calls if call.id}
    return not (piece.answers or piece.parts) and all(
        (call.id, call.name) in calls and (not call.arguments or call.arguments == calls[call.id, call.name])
        for call in piece.calls
    )


def _read_usage(span: Span, facts: SpanFacts) -> Usage | None:
    for prefix in USAGE_PREFIXES.get(facts.kind, (USAGE,)):
        found = read_usage(span.attributes, TOKENS, prefix)
        if found is not None:
            return found
    return None


def _add_tool(span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    add_texts(facts, attributes, {"tool_name": ("gen_ai.tool.name",), "tool_call_id": ("gen_ai.tool.call.id",)})
    facts.arguments = first(attributes, "gen_ai.tool.call.arguments")
    facts.result = first(attributes, "gen_ai.tool.call.result")


def _is_merged(span: Span) -> bool:
    """True for a span that sums up parallel tool executions, as some tracers add."""
    name = first_text(span.attributes, "gen_ai.tool.name")
    return name is not None and name.startswith(NO_TOOL_PREFIXES)


def _provider(attributes: dict[str, Any]) -> str | None:
    """The model's provider; agent frameworks that write their own name there are ignored."""
    named = first_text(attributes, "gen_ai.provider.name", "gen_ai.system")
    return None if named in NO_PROVIDERS else named


def read_tool_definitions(value: Any) -> list[dict[str, Any]] | None:
    """Tool definitions, each with name, description and parameters on one level."""
    if type(value) is not list:
        return None
    found = []
    for one in value:
        if type(one) is dict:
            inner = one.get("function")
            tool = inner if type(inner) is dict else one
            if type(tool.get("name")) is str:
                found.append(_read_definition(tool))
    return found or None


def _read_definition(tool: dict[str, Any]) -> dict[str, Any]:
    parameters = first(tool, "parameters", "input_schema")
    return {
        "name": tool["name"],
        "description": tool.get("description"),
        "parameters": decode(parameters),
        "type": "function",
    }


DETAILS = "gen_ai.client.inference.operation.details"
CHOICE = "gen_ai.choice"
ELIDED = "<elided>"  # what Google's agent kit writes in place of content
SPEAKERS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def add_event_messages(span: Span, facts: SpanFacts) -> None:
    """Adds messages from events that attributes have not set."""
    given: list[RawMessage] = []
    answered: list[RawMessage] = []
    for event in _sort_by_time(span.events):
        if event.name == DETAILS:
            _add_details(event, facts)
        elif event.name in SPEAKERS:
            given += _read_event_message(SPEAKERS[event.name], _read_body(event))
        elif event.name == CHOICE:
            _add_choice(answered, event, facts)
        elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            _add_content(event, facts)
    facts.input = facts.input or given or None
    facts.output = facts.output or answered or None


def _sort_by_time(events: list[SpanEvent]) -> list[SpanEvent]:
    """Sorts events by time if each has one, else keeps their order."""
    times = [event.time_ns for event in events]
    if any(time is None for time in times):
        return events
    return sorted(events, key=lambda event: event.time_ns or 0)


def _add_details(event: SpanEvent, facts: SpanFacts) -> None:
    body = decode(event.body)
    fields: Mapping[str, Any] = {**(body if type(body) is dict else {}), **event.attributes}
    facts.system = facts.system or join_text_parts(decode(fields.get("gen_ai.system_instructions")))
    facts.input = facts.input or read_messages(fields.get("gen_ai.input.messages"), facts, "gen_ai.input.messages")
    facts.output = facts.output or read_messages(fields.get("gen_ai.output.messages"), facts, "gen_ai.output.messages")


def _add_content(event: SpanEvent, facts: SpanFacts) -> None:
    """Reads an event with the whole input, or one with the whole output."""
    if event.name.endswith("prompt"):
        value = event.attributes.get("gen_ai.prompt")
        facts.input = facts.input or read_messages(value, facts, "gen_ai.prompt")
    else:
        value = event.attributes.get("gen_ai.completion")
        facts.output = facts.output or read_messages(value, facts, "gen_ai.completion")


def _add_choice(answered: list[RawMessage], event: SpanEvent, facts: SpanFacts) -> None:
    """Adds a choice; later ones are alternatives, except for Anthropic: blocks of one message."""
    body = _read_body(event)
    provider = first_text(event.attributes, "gen_ai.system", "gen_ai.provider.name") or facts.provider
    if body.get("index") not in (None, 0, "0") and provider != "anthropic":
        return
    inner = decode(body.get("message"))
    recorded = {**(inner if type(inner) is dict else {"content": inner}), "role": "assistant"}
    if "tool_calls" in body:
        recorded["tool_calls"] = body["tool_calls"]
    reason = first_text(body, "finish_reason")
    for message in _read_event_message("assistant", recorded):
        message.finish_reason = reason
        if answered and not message.content:
            answered[-1].calls += message.calls
        else:
            answered.append(message)
    facts.finish_reason = facts.finish_reason or reason


def _read_body(event: SpanEvent) -> dict[str, Any]:
    """The fields of a message: the body of a log record, else the attributes of a span event."""
    body = decode(event.body)
    if type(body) is dict:
        return body
    content = decode(first(event.attributes, "gen_ai.event.content"))
    if type(content) is dict:
        return content
    return {key: decode(value) for key, value in event.attributes.items()}


def _read_event_message(role: str, body: dict[str, Any]) -> list[RawMessage]:
    """Reads one message; empty if it was not captured, or holds tool definitions only."""
    content, calls = body.get("content"), decode(body.get("tool_calls"))
    if type(content) is dict:
        if "tools" in content:
            return []
        content = [content]
    if content in (None, ELIDED) and not calls:
        return []
    recorded: dict[str, Any] = {"role": role, "content": content}
    if role == "tool":
        recorded["tool_call_id"], recorded["name"] = body.get("id"), body.get("name")
    elif role == "assistant" and type(calls) is list:
        recorded["tool_calls"] = calls
    try:
        return read_message(recorded)
    except FieldError:
        return []


GENAI = Dialect(kind_of, add)
