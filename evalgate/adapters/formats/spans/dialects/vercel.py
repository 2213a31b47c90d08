"""Reads the vocabulary of the Vercel AI SDK: `ai.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.build.raw_message import RawMessage, ToolRequest, written
from evalgate.adapters.formats.spans.dialects.attributes import (
    completed,
    decoded,
    first,
    messages,
    tokens,
    usage_of,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.spans.span import Facts, Span, SpanKind
    from evalgate.models.trace.trace import Usage

REQUESTS = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")
METADATA = "ai.telemetry.metadata."


def kind_of(span: Span) -> SpanKind | None:
    """The kind by operation; a request's span with several steps only sums up their spans."""
    operation = words(span.attributes, "ai.operationId")
    if operation is None:
        return None
    if operation == "ai.toolCall":
        return "tool"
    if operation.startswith(("ai.embed", "ai.rerank")):
        return "excluded"
    return "inference" if operation.startswith(REQUESTS) else "other"


def add(span: Span, facts: Facts) -> None:
    """Adds all facts under `ai.`."""
    attributes = span.attributes
    if words(attributes, "ai.operationId") is None:
        return
    facts.provider = facts.provider or words(attributes, "ai.model.provider")
    model = words(attributes, "gen_ai.response.model", "ai.response.model", "ai.model.id")
    facts.model = model or facts.model
    facts.response_id = facts.response_id or words(attributes, "ai.response.id") or _provider_id(attributes)
    facts.usage = completed(facts.usage, _usage(attributes))
    reason = words(attributes, "ai.response.finishReason", "ai.finishReason")
    facts.finish_reason = facts.finish_reason or reason
    facts.agent = facts.agent or words(attributes, "ai.telemetry.functionId", "resource.name")
    facts.framework = facts.framework or "vercel-ai"
    for key, value in attributes.items():
        if key.startswith(METADATA):
            facts.metadata.setdefault(key.removeprefix(METADATA), value)
    if facts.kind == "tool":
        facts.tool_name = words(attributes, "ai.toolCall.name")
        facts.tool_call_id = words(attributes, "ai.toolCall.id")
        facts.arguments = first(attributes, "ai.toolCall.args", "ai.toolCall.input")
        facts.result = first(attributes, "ai.toolCall.result", "ai.toolCall.output")
    elif facts.kind == "inference":
        facts.input = facts.input or _given(attributes, facts)
        facts.output = facts.output or _answered(attributes)


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    def told(*names: str) -> int | None:
        return tokens(attributes, *(f"ai.usage.{name}" for name in names))

    return usage_of(
        {
            "input_tokens": told("inputTokens", "promptTokens"),
            "output_tokens": told("outputTokens", "completionTokens"),
            "total_tokens": told("totalTokens"),
            "cache_read_input_tokens": told("cachedInputTokens", "inputTokenDetails.cacheReadTokens"),
            "cache_write_input_tokens": told("inputTokenDetails.cacheWriteTokens"),
            "reasoning_output_tokens": told("reasoningTokens", "outputTokenDetails.reasoningTokens"),
        }
    )


def _provider_id(attributes: Mapping[str, Any]) -> str | None:
    told = decoded(attributes.get("ai.response.providerMetadata"))
    for inner in told.values() if type(told) is dict else ():
        if type(inner) is dict and type(inner.get("responseId")) is str:
            return str(inner["responseId"])
    return None


def _given(attributes: Mapping[str, Any], facts: Facts) -> list[RawMessage] | None:
    """The messages of one step, or the prompt of the whole request: text, or messages with instructions."""
    whole = decoded(attributes.get("ai.prompt.messages"))
    if whole is not None:
        return messages(whole, facts, "ai.prompt.messages")
    prompt = decoded(attributes.get("ai.prompt"))
    if type(prompt) is not dict:
        return None if prompt is None else messages(prompt, facts, "ai.prompt")
    facts.system = facts.system or words(prompt, "system")
    if type(prompt.get("prompt")) is str:
        return [RawMessage("user", prompt["prompt"])]
    listed = prompt.get("messages", prompt.get("prompt"))
    return None if listed is None else messages(listed, facts, "ai.prompt")


def _answered(attributes: Mapping[str, Any]) -> list[RawMessage] | None:
    text = words(attributes, "ai.response.text", "ai.result.text")
    told = decoded(first(attributes, "ai.response.toolCalls", "ai.result.toolCalls"))
    made = decoded(first(attributes, "ai.response.object", "ai.result.object"))
    if text is None and made is not None:
        text = made if type(made) is str else written(made)
    calls = [asked for asked in map(_asked, told if type(told) is list else []) if asked is not None]
    reasoning = words(attributes, "ai.response.reasoning")
    if text is None and not calls:
        return None
    return [RawMessage("assistant", text, calls=calls, reasoning=reasoning)]


def _asked(value: Any) -> ToolRequest | None:
    if type(value) is not dict:
        return None
    name, called = value.get("toolName"), value.get("toolCallId")
    if type(name) is not str or not name:
        return None
    return ToolRequest(called if type(called) is str else None, name, first(value, "input", "args"))
