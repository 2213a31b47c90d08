"""Reads the vocabulary of the Vercel AI SDK: `ai.*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
from evalgate.adapters.formats.core.fields import count
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.core.vercel_tokens import TOKENS, find_written, name_rule
from evalgate.adapters.formats.spans.dialects.attributes import (
    add_texts,
    add_usage,
    decode,
    first,
    first_text,
    read_messages,
    read_usage,
)
from evalgate.adapters.formats.spans.span import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.adapters.formats.spans.span import Span, SpanFacts, SpanKind

REQUESTS = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")
TEXTS = {
    "provider": ("ai.model.provider",),
    "response_id": ("ai.response.id",),
    "finish_reason": ("ai.response.finishReason", "ai.finishReason"),
    "agent": ("ai.telemetry.functionId", "resource.name"),
}
DETAILS = ("ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.inputTokenDetails.noCacheTokens")
METADATA_PREFIX = "ai.telemetry.metadata."


def kind_of(span: Span) -> SpanKind | None:
    """The kind by operation; a request's span with several steps only sums up their spans."""
    operation = first_text(span.attributes, "ai.operationId")
    if operation is None:
        return None
    if operation == "ai.toolCall":
        return "tool"
    if operation.startswith(("ai.embed", "ai.rerank")):
        return "excluded"
    return "inference" if operation.startswith(REQUESTS) else "other"


def add(span: Span, facts: SpanFacts) -> None:
    """Adds all facts under `ai.`."""
    attributes = span.attributes
    if first_text(attributes, "ai.operationId") is None:
        return
    add_texts(facts, attributes, TEXTS)
    model = first_text(attributes, "gen_ai.response.model", "ai.response.model", "ai.model.id")
    facts.model = model or facts.model
    facts.response_id = facts.response_id or _provider_id(attributes)
    _add_usage(attributes, facts)
    facts.framework = facts.framework or "vercel-ai"
    for key, value in attributes.items():
        if key.startswith(METADATA_PREFIX):
            facts.metadata.setdefault(key.removeprefix(METADATA_PREFIX), value)
    if facts.kind == "tool":
        facts.tool_name = first_text(attributes, "ai.toolCall.name")
        facts.tool_call_id = first_text(attributes, "ai.toolCall.id")
        facts.arguments = first(attributes, "ai.toolCall.args", "ai.toolCall.input")
        facts.result = first(attributes, "ai.toolCall.result", "ai.toolCall.output")
    elif facts.kind == "inference":
        facts.input = facts.input or _read_input(attributes, facts)
        facts.output = facts.output or _read_output(attributes)


def _provider_id(attributes: Mapping[str, Any]) -> str | None:
    metadata = decode(attributes.get("ai.response.providerMetadata"))
    for inner in metadata.values() if type(metadata) is dict else ():
        if type(inner) is dict and type(inner.get("responseId")) is str:
            return str(inner["responseId"])
    return None


def _read_input(attributes: Mapping[str, Any], facts: SpanFacts) -> list[RawMessage] | None:
    """The messages of one step, or the prompt of the whole request: text, or messages with instructions."""
    step_messages = decode(attributes.get("ai.prompt.messages"))
    if step_messages is not None:
        return read_messages(step_messages, facts, "ai.prompt.messages")
    prompt = decode(attributes.get("ai.prompt"))
    if type(prompt) is not dict:
        return None if prompt is None else read_messages(prompt, facts, "ai.prompt")
    facts.system = facts.system or first_text(prompt, "system")
    if type(prompt.get("prompt")) is str:
        return [RawMessage("user", prompt["prompt"])]
    listed = prompt.get("messages", prompt.get("prompt"))
    return None if listed is None else read_messages(listed, facts, "ai.prompt")


def _read_output(attributes: Mapping[str, Any]) -> list[RawMessage] | None:
    text = first_text(attributes, "ai.response.text", "ai.result.text")
    items = decode(first(attributes, "ai.response.toolCalls", "ai.result.toolCalls"))
    made = decode(first(attributes, "ai.response.object", "ai.result.object"))
    if text is None and made is not None:
        text = made if type(made) is str else encode_json(made)
    calls = [asked for asked in map(_read_call, items if type(items) is list else []) if asked is not None]
    reasoning = first_text(attributes, "ai.response.reasoning")
    if text is None and not calls:
        return None
    return [RawMessage("assistant", text, calls=calls, reasoning=reasoning)]


def _read_call(value: Any) -> ToolRequest | None:
    if type(value) is not dict:
        return None
    name, call_id = value.get("toolName"), value.get("toolCallId")
    if type(name) is not str or not name:
        return None
    return ToolRequest(call_id if type(call_id) is str else None, name, first(value, "input", "args"))


VERCEL = Dialect(kind_of, add)


def _add_usage(attributes: Mapping[str, Any], facts: SpanFacts) -> None:
    metadata = decode(attributes.get("ai.response.providerMetadata"))
    found = read_usage(attributes, TOKENS, "ai.usage.")
    if found is not None and found["cache_write_input_tokens"] is None:
        found["cache_write_input_tokens"] = count(find_written(metadata), "ai.response.providerMetadata")
    add_usage(facts, found, name_rule(metadata, has_details=any(key in attributes for key in DETAILS)))
