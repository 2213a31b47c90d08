"""Reads all versions of OpenTelemetry's GenAI semantic conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.messages.genai import join_text_parts
from evalgate.adapters.formats.spans.dialects.attributes import (
    build_usage,
    decode,
    dollars,
    first,
    first_text,
    list_texts,
    read_messages,
    tokens,
)
from evalgate.adapters.formats.spans.dialects.genai_events import add_event_messages

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.build.raw_message import RawMessage
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Usage

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
USAGE = "gen_ai.usage."
# Some versions give an agent's sum a separate name, which a request never has.
USAGE_PREFIXES = {"agent": (USAGE, "gen_ai.aggregated_usage.")}


def kind_of(span: Span) -> SpanKind | None:
    """The kind by operation, else by attributes or events that only tools or requests have."""
    attributes = span.attributes
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
    facts.model = first_text(attributes, "gen_ai.response.model", "gen_ai.request.model")
    facts.response_id = first_text(attributes, "gen_ai.response.id")
    facts.usage = _read_usage(span, facts)
    facts.cost_usd = dollars(attributes, "gen_ai.usage.cost", "gen_ai.usage.cost_usd", "operation.cost")
    reasons = list_texts(first(attributes, "gen_ai.response.finish_reasons", "gen_ai.response.finish_reason"))
    facts.finish_reason = reasons[-1] if reasons else None
    facts.agent = first_text(attributes, "gen_ai.agent.name")
    facts.conversation_id = first_text(attributes, "gen_ai.conversation.id")
    facts.system = join_text_parts(decode(attributes.get("gen_ai.system_instructions")))
    facts.tool_definitions = read_tool_definitions(decode(attributes.get("gen_ai.tool.definitions")))
    facts.input = read_messages(attributes.get("gen_ai.input.messages"), facts, "gen_ai.input.messages")
    facts.output = keep_first_choice(
        read_messages(attributes.get("gen_ai.output.messages"), facts, "gen_ai.output.messages")
    )
    add_event_messages(span, facts)
    if facts.kind == "tool":
        _add_tool(span, facts)


def keep_first_choice(messages: list[RawMessage] | None) -> list[RawMessage] | None:
    """Keeps the first of several finished messages: they are alternatives, and frameworks take the first."""
    if messages and len(messages) > 1 and all(one.finish_reason and not one.answers for one in messages):
        return messages[:1]
    return messages


def _read_usage(span: Span, facts: SpanFacts) -> Usage | None:
    for prefix in USAGE_PREFIXES.get(facts.kind, (USAGE,)):
        found = _usage_with_prefix(span, prefix)
        if found is not None:
            return found
    return None


def _usage_with_prefix(span: Span, prefix: str) -> Usage | None:
    def read_count(*names: str) -> int | None:
        return tokens(span.attributes, *(f"{prefix}{name}" for name in names))

    return build_usage(
        {
            "input_tokens": read_count("input_tokens", "prompt_tokens"),
            "output_tokens": read_count("output_tokens", "completion_tokens"),
            "total_tokens": read_count("total_tokens"),
            "cache_read_input_tokens": read_count(
                "cache_read.input_tokens", "cache_read_input_tokens", "details.cache_read_tokens"
            ),
            "cache_write_input_tokens": read_count(
                "cache_write.input_tokens",
                "cache_creation.input_tokens",
                "cache_creation_input_tokens",
                "cache_write_input_tokens",
                "details.cache_write_tokens",
            ),
            "reasoning_output_tokens": read_count(
                "reasoning.output_tokens", "reasoning_tokens", "details.reasoning_tokens"
            ),
        }
    )


def _add_tool(span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    facts.tool_name = first_text(attributes, "gen_ai.tool.name")
    facts.tool_call_id = first_text(attributes, "gen_ai.tool.call.id")
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
