"""Reads id, model, tokens and finish reason from a model provider's raw response."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, count
from evalgate.adapters.formats.core.usage.usage_fields import total_tokens
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
    first = _first(value)
    kind = _kind(value)
    reported = _reported(value, kind)
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
        _text(identity) if kind in (CHAT, RESPONSES, ANTHROPIC) or "responseId" in value else None,
        _text(model),
        usage,
        _text(reason) or _text(value.get("finish_reason")),
    )


def langchain_usage(told: dict[str, Any]) -> Usage:
    """Usage as LangChain writes it; raises FieldError. Input includes cache, output includes reasoning."""
    read, thought = _details(told, "input_token_details"), _details(told, "output_token_details")
    return _usage(
        _count(told, "input_tokens"),
        _count(told, "output_tokens"),
        _count(told, "total_tokens"),
        _count(read, "cache_read"),
        _count(read, "cache_creation"),
        _count(thought, "reasoning"),
    )


def openai_usage(told: dict[str, Any]) -> Usage:
    """Usage of OpenAI's Responses API; raises FieldError. Input includes cache, output reasoning."""
    read, thought = _details(told, "input_tokens_details"), _details(told, "output_tokens_details")
    return _usage(
        _count(told, "input_tokens"),
        _count(told, "output_tokens"),
        _count(told, "total_tokens"),
        _count(read, "cached_tokens"),
        _count(read, "cache_write_tokens"),
        _count(thought, "reasoning_tokens"),
    )


def _chat_usage(told: dict[str, Any]) -> Usage:
    read, thought = _details(told, "prompt_tokens_details"), _details(told, "completion_tokens_details")
    return _usage(
        _count(told, "prompt_tokens"),
        _count(told, "completion_tokens"),
        _count(told, "total_tokens"),
        _count(read, "cached_tokens"),
        None,
        _count(thought, "reasoning_tokens"),
    )


def anthropic_usage(told: dict[str, Any]) -> Usage:
    """Usage of Anthropic's Messages API; raises FieldError. Recorded input excludes the cache's tokens."""
    read, written = _count(told, "cache_read_input_tokens"), _count(told, "cache_creation_input_tokens")
    fresh = _count(told, "input_tokens")
    tokens_in = None if fresh is None else fresh + (read or 0) + (written or 0)
    return _usage(tokens_in, _count(told, "output_tokens"), None, read, written, None)


def _gemini_usage(told: dict[str, Any]) -> Usage:
    """Recorded output excludes thoughts; if these are missing, they are the rest of the total."""
    plain = {_snake(key): value for key, value in told.items()}
    prompt, answered = _count(plain, "prompt_token_count"), _count(plain, "candidates_token_count")
    used, total = _count(plain, "tool_use_prompt_token_count"), _count(plain, "total_token_count")
    thought = _count(plain, "thoughts_token_count")
    if thought is None and None not in (total, prompt, answered):
        rest = (total or 0) - (prompt or 0) - (answered or 0) - (used or 0)
        thought = rest if rest > 0 else None
    tokens_in = None if prompt is None else prompt + (used or 0)
    tokens_out = None if answered is None else answered + (thought or 0)
    return _usage(tokens_in, tokens_out, total, _count(plain, "cached_content_token_count"), None, thought)


READERS = {
    CHAT: _chat_usage,
    RESPONSES: openai_usage,
    ANTHROPIC: anthropic_usage,
    GEMINI: _gemini_usage,
    LANGCHAIN: langchain_usage,
}


def _kind(value: dict[str, Any]) -> str | None:
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


def _reported(value: dict[str, Any], kind: str | None) -> dict[str, Any]:
    keys = ("usage_metadata", "usageMetadata") if kind in (GEMINI, LANGCHAIN) else ("usage",)
    return next((value[key] for key in keys if type(value.get(key)) is dict), {})


def _first(value: dict[str, Any]) -> dict[str, Any]:
    for key in ("choices", "candidates"):
        listed = value.get(key)
        if type(listed) is list and listed and type(listed[0]) is dict:
            return listed[0]
    return {}


def _usage(
    tokens_in: int | None,
    tokens_out: int | None,
    total: int | None,
    read: int | None,
    written: int | None,
    thought: int | None,
) -> Usage:
    usage = unknown_usage()
    usage["input_tokens"], usage["output_tokens"] = tokens_in, tokens_out
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    usage["cache_read_input_tokens"], usage["cache_write_input_tokens"] = read, written
    usage["reasoning_output_tokens"] = thought
    usage["source"] = "recorded_total"
    return usage


def _count(told: dict[str, Any], key: str) -> int | None:
    return count(told.get(key), key)


def _details(told: dict[str, Any], key: str) -> dict[str, Any]:
    found = told.get(key)
    return found if type(found) is dict else {}


def _snake(key: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None
