"""Reads the spans that Claude Code records: `claude_code.interaction`, `.llm_request` and `.tool`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.spans.dialects.attributes import build_usage, first_text, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind
    from evalgate.models.trace.trace import Usage

PREFIX = "claude_code."
EXECUTION = "claude_code.tool.execution"
KINDS: dict[str, SpanKind] = {
    "claude_code.interaction": "agent",
    "claude_code.llm_request": "inference",
    "claude_code.tool": "tool",
    EXECUTION: "tool",
}
REDACTED = "<REDACTED>"
ARGUMENTS = {"command": "full_command", "file_path": "file_path"}


def kind_of(span: Span) -> SpanKind | None:
    """The kind by the span's name, since its attributes are not specific to Claude Code."""
    return KINDS.get(span.name, "other") if span.name.startswith(PREFIX) else None


def add(span: Span, facts: SpanFacts) -> None:
    """Adds facts that the conventions have not set; content is recorded only if the user enabled it."""
    if span.name not in KINDS:
        return
    attributes = span.attributes
    facts.framework = "claude-code"
    if facts.kind == "inference":
        facts.model = facts.model or first_text(attributes, "model")
        facts.response_id = facts.response_id or first_text(attributes, "request_id")
        facts.usage = facts.usage or _read_usage(attributes)
    elif facts.kind == "agent":
        prompt = first_text(attributes, "user_prompt")
        if prompt is not None and prompt != REDACTED:
            facts.input = facts.input or [RawMessage("user", prompt)]
    elif facts.kind == "tool":
        _add_tool(span, facts)
    if attributes.get("success") is False:
        facts.error_type = facts.error_type or first_text(attributes, "error.type") or "error"


def _read_usage(attributes: Mapping[str, Any]) -> Usage | None:
    """Adds cache tokens to the input tokens, from which Anthropic leaves them out."""
    read, written = tokens(attributes, "cache_read_tokens"), tokens(attributes, "cache_creation_tokens")
    uncached = tokens(attributes, "input_tokens")
    return build_usage(
        {
            "input_tokens": None if uncached is None else uncached + (read or 0) + (written or 0),
            "output_tokens": tokens(attributes, "output_tokens"),
            "cache_read_input_tokens": read,
            "cache_write_input_tokens": written,
        }
    )


def _add_tool(span: Span, facts: SpanFacts) -> None:
    attributes = span.attributes
    facts.tool_name = facts.tool_name or first_text(attributes, "tool_name")
    facts.tool_call_id = facts.tool_call_id or first_text(attributes, "tool_use_id", "gen_ai.tool.call.id")
    if facts.arguments is None:
        arguments = {name: attributes[key] for name, key in ARGUMENTS.items() if first_text(attributes, key)}
        facts.arguments = arguments or None
    outputs = [first_text(event.attributes, "output") for event in span.events if event.name == "tool.output"]
    if facts.result is None and outputs:
        facts.result = outputs[-1]
