"""Reads id, model, tokens and finish reason from a model provider's raw response."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, count, to_snake_case
from evalgate.adapters.formats.core.usage import total_tokens
from evalgate.models.trace.trace import Usage, unknown_usage

CHAT, RESPONSES, ANTHROPIC, GEMINI, LANGCHAIN = "chat", "responses", "anthropic", "gemini", "langchain"


class ProviderResponse(NamedTuple):
    """Metadata of a provider's response; None if unknown."""

    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None


def read_provider_response(value: Any) -> ProviderResponse:
    """Reads a raw response of OpenAI, Anthropic, Gemini or LangChain; an empty result for other values.

    Never raises: values that can't be read are unknown.
    """
    if type(value) is not dict:
        return ProviderResponse()
    first = _get_first_choice(value)
    kind = _detect_provider(value)
    reported = _find_usage(value, kind)
    usage = None
    if kind is not None and reported:
        try:
            usage = READERS[kind](reported)
        except FieldError:
            usage = None
    identity = value.get("id", value.get("response_id", value.get("responseId")))
    model = value.get("model", value.get("model_version", value.get("modelVersion")))
    reason = first.get("finish_reason", first.get("finishReason", value.get("stop_reason")))
    return ProviderResponse(
        _text_or_none(identity) if kind in (CHAT, RESPONSES, ANTHROPIC) or "responseId" in value else None,
        _text_or_none(model),
        usage,
        _text_or_none(reason) or _text_or_none(value.get("finish_reason")),
    )


def read_langchain_usage(usage: dict[str, Any]) -> Usage:
    """Usage as LangChain writes it; raises FieldError. Input includes cache, output includes reasoning."""
    input_details, output_details = (
        _details(usage, "input_token_details"),
        _details(usage, "output_token_details"),
    )
    return _build_usage(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "total_tokens"),
        _count(input_details, "cache_read"),
        _count(input_details, "cache_creation"),
        _count(output_details, "reasoning"),
    )


def read_responses_usage(usage: dict[str, Any]) -> Usage:
    """Usage of OpenAI's Responses API; raises FieldError. Input includes cache, output reasoning."""
    input_details, output_details = (
        _details(usage, "input_tokens_details"),
        _details(usage, "output_tokens_details"),
    )
    return _build_usage(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "total_tokens"),
        _count(input_details, "cached_tokens"),
        _count(input_details, "cache_write_tokens"),
        _count(output_details, "reasoning_tokens"),
    )


def _read_chat_usage(usage: dict[str, Any]) -> Usage:
    input_details, output_details = (
        _details(usage, "prompt_tokens_details"),
        _details(usage, "completion_tokens_details"),
    )
    return _build_usage(
        _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"),
        _count(usage, "total_tokens"),
        _count(input_details, "cached_tokens"),
        None,
        _count(output_details, "reasoning_tokens"),
    )


def read_anthropic_usage(usage: dict[str, Any]) -> Usage:
    """Usage of Anthropic's Messages API; raises FieldError. Recorded input excludes the cache's tokens."""
    cache_read, cache_write = (
        _count(usage, "cache_read_input_tokens"),
        _count(usage, "cache_creation_input_tokens"),
    )
    uncached = _count(usage, "input_tokens")
    tokens_in = None if uncached is None else uncached + (cache_read or 0) + (cache_write or 0)
    return _build_usage(tokens_in, _count(usage, "output_tokens"), None, cache_read, cache_write, None)


def _read_gemini_usage(usage: dict[str, Any]) -> Usage:
    """Recorded output excludes thoughts; if these are missing, they are the rest of the total."""
    plain = {to_snake_case(key): value for key, value in usage.items()}
    prompt, candidates = _count(plain, "prompt_token_count"), _count(plain, "candidates_token_count")
    tool_use, total = _count(plain, "tool_use_prompt_token_count"), _count(plain, "total_token_count")
    reasoning = _count(plain, "thoughts_token_count")
    if reasoning is None and None not in (total, prompt, candidates):
        rest = (total or 0) - (prompt or 0) - (candidates or 0) - (tool_use or 0)
        reasoning = rest if rest > 0 else None
    tokens_in = None if prompt is None else prompt + (tool_use or 0)
    tokens_out = None if candidates is None else candidates + (reasoning or 0)
    return _build_usage(tokens_in, tokens_out, total, _count(plain, "cached_content_token_count"), None, reasoning)


READERS = {
    CHAT: _read_chat_usage,
    RESPONSES: read_responses_usage,
    ANTHROPIC: read_anthropic_usage,
    GEMINI: _read_gemini_usage,
    LANGCHAIN: read_langchain_usage,
}


def _detect_provider(value: dict[str, Any]) -> str | None:
    if type(value.get("usage_metadata")) is dict and "input_tokens" in value["usage_metadata"]:
        return LANGCHAIN
    if "usage_metadata" in value or "usageMetadata" in value:
        return GEMINI
    if type(value.get("choices")) is list:
        return CHAT
    if type(value.get("output")) is list and "id" in value:
        return RESPONSES
    if type(value.get("content")) is list and "stop_reason" in value:
        return ANTHROPIC
    return None


def _find_usage(value: dict[str, Any], kind: str | None) -> dict[str, Any]:
    keys = ("usage_metadata", "usageMetadata") if kind in (GEMINI, LANGCHAIN) else ("usage",)
    return next((value[key] for key in keys if type(value.get(key)) is dict), {})


def _get_first_choice(value: dict[str, Any]) -> dict[str, Any]:
    for key in ("choices", "candidates"):
        listed = value.get(key)
        if type(listed) is list and listed and type(listed[0]) is dict:
            return listed[0]
    return {}


def _build_usage(
    tokens_in: int | None,
    tokens_out: int | None,
    total: int | None,
    cache_read: int | None,
    cache_write: int | None,
    reasoning: int | None,
) -> Usage:
    usage = unknown_usage()
    usage["input_tokens"], usage["output_tokens"] = tokens_in, tokens_out
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    usage["cache_read_input_tokens"], usage["cache_write_input_tokens"] = cache_read, cache_write
    usage["reasoning_output_tokens"] = reasoning
    usage["source"] = "recorded_total"
    return usage


def _count(usage: dict[str, Any], key: str) -> int | None:
    return count(usage.get(key), key)


def _details(usage: dict[str, Any], key: str) -> dict[str, Any]:
    found = usage.get(key)
    return found if type(found) is dict else {}


def _text_or_none(value: Any) -> str | None:
    return value if type(value) is str and value else None
