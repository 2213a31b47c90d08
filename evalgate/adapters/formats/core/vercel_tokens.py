"""The tokens of the Vercel AI SDK, versions 5 to 7: one table for steps, messages and spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import count, dict_or_empty, mapping
from evalgate.adapters.formats.core.usage import TokenTable

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.fields import Read
    from evalgate.models.trace.trace import Usage

TOKENS = {
    "input_tokens": ("inputTokens", "promptTokens"),
    "output_tokens": ("outputTokens", "completionTokens"),
    "total_tokens": ("totalTokens",),
    "cache_read_input_tokens": ("inputTokenDetails.cacheReadTokens", "cachedInputTokens"),
    "cache_write_input_tokens": ("inputTokenDetails.cacheWriteTokens",),
    "reasoning_output_tokens": ("outputTokenDetails.reasoningTokens", "reasoningTokens"),
    "uncached": ("inputTokenDetails.noCacheTokens",),
}


def _name_fields() -> dict[str, tuple[Read, *tuple[str, ...]]]:
    return {name: (count, *keys) for name, keys in TOKENS.items()}


USAGE = TokenTable("vercel", **_name_fields())

OUTSIDE = ("anthropic", "bedrock")
INSIDE = ("openai", "azure", "google", "vertex", "xai", "groq", "deepseek", "mistral", "openrouter")
"""Keys of the metadata of the SDK's packages: the one that converted the usage, which need not be the provider."""


def read_vercel_usage(value: Any, path: str, metadata: Any = None) -> Usage:
    """The tokens of a step or message; `metadata` is its `providerMetadata`. Raises FieldError."""
    usage = _spell_as_details(mapping(value, path))
    return USAGE.read(
        _add_written(usage, metadata), path, name_rule(metadata, has_details="inputTokenDetails" in usage)
    )


def name_rule(metadata: Any, *, has_details: bool) -> str:
    """The entry of RULES for a usage with or without version 6's details, and with this metadata."""
    if has_details:
        return "vercel-details"
    packages = dict_or_empty(metadata)
    if any(name in packages for name in OUTSIDE):
        return "vercel-outside"
    return "vercel-inside" if any(name in packages for name in INSIDE) else "vercel"


def find_written(metadata: Any) -> Any:
    """The tokens written to a cache, which version 5 keeps in the metadata; None if it has none."""
    packages = dict_or_empty(metadata)
    of_bedrock = dict_or_empty(dict_or_empty(packages.get("bedrock")).get("usage"))
    return dict_or_empty(packages.get("anthropic")).get(
        "cacheCreationInputTokens", of_bedrock.get("cacheWriteInputTokens")
    )


def _add_written(usage: dict[str, Any], metadata: Any) -> dict[str, Any]:
    written = find_written(metadata)
    if written is None or "inputTokenDetails" in usage:
        return usage
    return {**usage, "inputTokenDetails": {"cacheWriteTokens": written}}


def _spell_as_details(usage: dict[str, Any]) -> dict[str, Any]:
    """Numbers that a provider's package writes as an object, `inputTokens: {total, cacheRead}`, as the SDK does."""
    found = dict(usage)
    if isinstance(given := usage.get("inputTokens"), dict):
        kinds = {"noCacheTokens": "noCache", "cacheReadTokens": "cacheRead", "cacheWriteTokens": "cacheWrite"}
        found |= {
            "inputTokens": given.get("total"),
            "inputTokenDetails": {name: given.get(key) for name, key in kinds.items()},
        }
    if isinstance(answered := usage.get("outputTokens"), dict):
        details = {"reasoningTokens": answered.get("reasoning")}
        found |= {"outputTokens": answered.get("total"), "outputTokenDetails": details}
    return found
