"""Reads id, model, tokens and finish reason from a model provider's raw response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.fields import FieldError, FieldTable, count
from evalgate.adapters.formats.core.format import first_object
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import TokenTable, build_usage, read_provider_usage

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.fields import Read
    from evalgate.models.trace.trace import Usage

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
            usage = READERS[kind](reported, "")
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


def read_detail(key: str) -> Read:
    """Reads a number of tokens of an object, also of the only one of a list; None if there is no such object."""
    return lambda value, path: count(first_object(value).get(key), f"{path}.{key}")


LANGCHAIN_USAGE = TokenTable(
    "langchain",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    total_tokens="total_tokens",
    cache_read_input_tokens=(read_detail("cache_read"), "input_token_details"),
    cache_write_input_tokens=(read_detail("cache_creation"), "input_token_details"),
    reasoning_output_tokens=(read_detail("reasoning"), "output_token_details"),
)
"""As LangChain writes it: input includes cache, output includes reasoning."""
RESPONSES_USAGE = TokenTable(
    "openai-responses",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    total_tokens="total_tokens",
    cache_read_input_tokens=(read_detail("cached_tokens"), "input_tokens_details"),
    cache_write_input_tokens=(read_detail("cache_write_tokens"), "input_tokens_details"),
    reasoning_output_tokens=(read_detail("reasoning_tokens"), "output_tokens_details"),
)
"""Of OpenAI's Responses API: input includes cache, output reasoning."""
ANTHROPIC_USAGE = TokenTable(
    "anthropic",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    cache_read_input_tokens="cache_read_input_tokens",
    cache_write_input_tokens="cache_creation_input_tokens",
)
"""Of Anthropic's Messages API: recorded input excludes the cache's tokens."""
GEMINI_USAGE = FieldTable(
    prompt=(count, "prompt_token_count", "promptTokenCount"),
    candidates=(count, "candidates_token_count", "candidatesTokenCount"),
    tool_use=(count, "tool_use_prompt_token_count", "toolUsePromptTokenCount"),
    total=(count, "total_token_count", "totalTokenCount"),
    cached=(count, "cached_content_token_count", "cachedContentTokenCount"),
    thoughts=(count, "thoughts_token_count", "thoughtsTokenCount"),
)


def _read_gemini_usage(usage: dict[str, Any], path: str) -> Usage:
    """Recorded output excludes thoughts; if these are missing, they are the rest of the total."""
    found = GEMINI_USAGE.read(usage, path)
    prompt, candidates, total, thoughts = (found[key] for key in ("prompt", "candidates", "total", "thoughts"))
    tool_use = found["tool_use"] or 0
    if thoughts is None and None not in (total, prompt, candidates):
        thoughts = max(total - prompt - candidates - tool_use, 0) or None
    parts = {"total_tokens": total, "cache_read_input_tokens": found["cached"], "reasoning_output_tokens": thoughts}
    parts["input_tokens"] = None if prompt is None else prompt + tool_use
    parts["output_tokens"] = candidates
    return build_usage(parts, RULES["gemini"], path)


READERS = {
    CHAT: read_provider_usage,
    RESPONSES: RESPONSES_USAGE.read,
    ANTHROPIC: ANTHROPIC_USAGE.read,
    GEMINI: _read_gemini_usage,
    LANGCHAIN: LANGCHAIN_USAGE.read,
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


def _text_or_none(value: Any) -> str | None:
    return value if type(value) is str and value else None
