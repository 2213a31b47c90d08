"""Reads what agent frameworks record in attributes of their own: Google's ADK, any-agent, Claude Code, Pydantic AI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.spans.dialects.attributes import (
    SETTLED,
    add_texts,
    add_usage,
    decode,
    dollars,
    first,
    first_text,
    read_messages,
    read_usage,
)
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

ADK_REQUEST, ADK_RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
ADK_CONTEXT = "For context:"  # starts a report on other agents, which is not a user's message
EMPTY_OBJECTS: tuple[Any, ...] = ("{}", {})
PLACEHOLDERS = frozenset({"{}", "N/A", "<not serializable>"})


def _find_adk_kind(span: Span) -> SpanKind | None:
    """`inference` for a span with a non-empty model request; tools have an empty one."""
    request = span.attributes.get(ADK_REQUEST)
    if request is None or request in ("{}", {}):
        return None
    return "inference"


def _add_adk(span: Span, facts: SpanFacts) -> None:
    """Adds request, response, tool arguments and tool result."""
    attributes = span.attributes
    if facts.kind == "tool":
        _add_adk_tool(attributes, facts)
    facts.conversation_id = facts.conversation_id or first_text(attributes, "gcp.vertex.agent.session_id")
    if facts.kind != "inference" or ADK_REQUEST not in attributes:
        return
    facts.input = facts.input or read_messages(_drop_placeholder(attributes[ADK_REQUEST]), facts, ADK_REQUEST)
    for message in facts.input or []:
        if message.role == "user" and (message.content or "").startswith(ADK_CONTEXT):
            message.role = "system"
    facts.output = facts.output or read_messages(_drop_placeholder(attributes.get(ADK_RESPONSE)), facts, ADK_RESPONSE)
    answer = read_provider_response(decode(attributes.get(ADK_RESPONSE)))
    add_usage(facts, answer.usage, SETTLED)
    facts.finish_reason = facts.finish_reason or answer.finish_reason


def _add_adk_tool(attributes: dict[str, Any], facts: SpanFacts) -> None:
    """Ignores empty arguments with an empty result: ADK writes these if content is disabled."""
    given = first(attributes, "gcp.vertex.agent.tool_call_args")
    answered = first(attributes, "gcp.vertex.agent.tool_response")
    if given in EMPTY_OBJECTS and answered in EMPTY_OBJECTS:
        return
    facts.arguments = _drop_placeholder(given) if facts.arguments is None else facts.arguments
    result = _drop_placeholder(answered)
    facts.result = facts.result if result is None else result


def _drop_placeholder(value: object) -> object:
    """The value, or None for a placeholder."""
    return None if type(value) is str and value in PLACEHOLDERS and value != "{}" else value


ADK = Dialect(_find_adk_kind, _add_adk)


ANY_AGENT_OUTPUT, ANY_AGENT_ARGUMENTS = "gen_ai.output", "gen_ai.tool.args"
ANY_AGENT_NAME = "tool.name"


def _add_any_agent(span: Span, facts: SpanFacts) -> None:
    """Adds arguments and result of a tool, output and cost of a model call."""
    attributes = span.attributes
    if facts.kind == "tool":
        facts.arguments = attributes.get(ANY_AGENT_ARGUMENTS) if facts.arguments is None else facts.arguments
        facts.result = attributes.get(ANY_AGENT_OUTPUT) if facts.result is None else facts.result
    elif facts.kind == "inference":
        facts.output = facts.output or _read_any_agent_output(attributes.get(ANY_AGENT_OUTPUT))
        costs = [dollars(attributes, f"gen_ai.usage.{part}_cost") for part in ("input", "output")]
        if facts.cost_usd is None and costs[0] is not None and costs[1] is not None:
            facts.cost_usd = costs[0] + costs[1]


def _read_any_agent_output(value: Any) -> list[RawMessage] | None:
    """Reads tool calls from a list of names and arguments, else text."""
    calls = decode(value)
    if type(calls) is list and calls and all(_is_any_agent_call(one) for one in calls):
        return [
            RawMessage(
                "assistant", calls=[ToolRequest(None, one[ANY_AGENT_NAME], one.get("tool.args")) for one in calls]
            )
        ]
    text = first_text({ANY_AGENT_OUTPUT: value}, ANY_AGENT_OUTPUT)
    return None if text is None else [RawMessage("assistant", text)]


def _is_any_agent_call(value: Any) -> bool:
    return type(value) is dict and type(value.get(ANY_AGENT_NAME)) is str and bool(value[ANY_AGENT_NAME])


ANY_AGENT = Dialect(lambda _: None, _add_any_agent)
"""Its spans all have the kind attribute of the GenAI conventions."""


CLAUDE_CODE_PREFIX = "claude_code."
CLAUDE_CODE_EXECUTION = "claude_code.tool.execution"
CLAUDE_CODE_KINDS: dict[str, SpanKind] = {
    "claude_code.interaction": "agent",
    "claude_code.llm_request": "inference",
    "claude_code.tool": "tool",
    CLAUDE_CODE_EXECUTION: "tool",
}
CLAUDE_CODE_TOKENS = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cache_read_input_tokens": ("cache_read_tokens",),
    "cache_write_input_tokens": ("cache_creation_tokens",),
}
CLAUDE_CODE_REDACTED = "<REDACTED>"
CLAUDE_CODE_ARGUMENTS = {"command": "full_command", "file_path": "file_path"}


def _find_claude_code_kind(span: Span) -> SpanKind | None:
    """The kind by the span's name, since its attributes are not specific to Claude Code."""
    return CLAUDE_CODE_KINDS.get(span.name, "other") if span.name.startswith(CLAUDE_CODE_PREFIX) else None


def _add_claude_code(span: Span, facts: SpanFacts) -> None:
    """Adds facts that the conventions have not set; content is recorded only if the user enabled it."""
    if span.name not in CLAUDE_CODE_KINDS:
        return
    attributes = span.attributes
    facts.framework = "claude-code"
    if facts.kind == "inference":
        add_texts(facts, attributes, {"model": ("model",), "response_id": ("request_id",)})
        if facts.usage is None:
            add_usage(facts, read_usage(attributes, CLAUDE_CODE_TOKENS), "claude-code")
    elif facts.kind == "agent":
        prompt = first_text(attributes, "user_prompt")
        if prompt is not None and prompt != CLAUDE_CODE_REDACTED:
            facts.input = facts.input or [RawMessage("user", prompt)]
    elif facts.kind == "tool":
        _add_claude_code_tool(span, facts)
    if attributes.get("success") is False:
        facts.error_type = facts.error_type or first_text(attributes, "error.type") or "error"


def _add_claude_code_tool(span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    add_texts(facts, attributes, {"tool_name": ("tool_name",), "tool_call_id": ("tool_use_id", "gen_ai.tool.call.id")})
    if facts.arguments is None:
        arguments = {
            name: attributes[key] for name, key in CLAUDE_CODE_ARGUMENTS.items() if first_text(attributes, key)
        }
        facts.arguments = arguments or None
    outputs = [first_text(event.attributes, "output") for event in span.events if event.name == "tool.output"]
    if facts.result is None and outputs:
        facts.result = outputs[-1]


CLAUDE_CODE = Dialect(_find_claude_code_kind, _add_claude_code)


PYDANTIC_AI_CONVERSATION_KEYS = ("pydantic_ai.all_messages", "all_messages_events")
TOOL_ARGUMENTS, TOOL_RESULT = "tool_arguments", "tool_response"


def _find_pydantic_ai_kind(span: Span) -> SpanKind | None:
    """`agent` for a span with a whole conversation; a tool's span in older versions names no operation."""
    attributes = span.attributes
    if first(attributes, *PYDANTIC_AI_CONVERSATION_KEYS, "final_result") is not None and "agent_name" in attributes:
        return "agent"
    return "tool" if TOOL_ARGUMENTS in attributes and "gen_ai.tool.name" in attributes else None


def _add_pydantic_ai(span: Span, facts: SpanFacts) -> None:
    """Adds the conversation of an agent, and a tool's arguments and result as older versions name them."""
    attributes = span.attributes
    if facts.kind == "tool":
        if facts.arguments is None:
            facts.arguments = attributes.get(TOOL_ARGUMENTS)
        if facts.result is None:
            facts.result = attributes.get(TOOL_RESULT)
        facts.tool_name = facts.tool_name or first_text(attributes, "gen_ai.tool.name")
    if facts.kind != "agent" or "agent_name" not in attributes:
        return
    facts.agent = facts.agent or first_text(attributes, "agent_name")
    facts.framework = facts.framework or "pydantic-ai"
    conversation = read_messages(
        first(attributes, *PYDANTIC_AI_CONVERSATION_KEYS), facts, PYDANTIC_AI_CONVERSATION_KEYS[0]
    )
    if conversation:
        facts.input, facts.output = conversation, None
    result = encode_text(decode(attributes.get("final_result"))) or None
    if result is not None:
        facts.output = [RawMessage("assistant", result)]
        if conversation and conversation[-1].role == "assistant" and conversation[-1].content == result:
            facts.input, facts.output = conversation[:-1], [conversation[-1]]


PYDANTIC_AI = Dialect(_find_pydantic_ai_kind, _add_pydantic_ai)
