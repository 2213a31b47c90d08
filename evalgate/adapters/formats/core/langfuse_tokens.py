"""The tokens of Langfuse's usage details, in its exports and in attributes of spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import count
from evalgate.adapters.formats.core.token_rules import RULES
from evalgate.adapters.formats.core.usage import build_usage

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Usage

INPUT, OUTPUT = ("input_", "prompt_", "cache_"), ("output_", "completion_")


def read_usage_details(counts: dict[str, Any]) -> Usage | None:
    """Usage, None if nothing was counted; details are added to input and output if only then they match the total."""
    known = {key: count(value, f"usageDetails.{key}") for key, value in counts.items() if key != "unit"}
    tokens_in, tokens_out, total = (known.get(key) for key in ("input", "output", "total"))
    if not any((tokens_in, tokens_out, total)):
        return None
    details_in = {key: value or 0 for key, value in known.items() if key.startswith(INPUT)}
    details_out = {key: value or 0 for key, value in known.items() if key.startswith(OUTPUT)}
    details_sum = sum(details_in.values()) + sum(details_out.values())
    if details_sum and total == (tokens_in or 0) + (tokens_out or 0) + details_sum:
        tokens_in = (tokens_in or 0) + sum(details_in.values())
        tokens_out = (tokens_out or 0) + sum(details_out.values())
    parts = {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out or None,
        "total_tokens": total,
        "cache_read_input_tokens": _detail(details_in, "cache_read", "cached_tokens", "cache_read_input_tokens"),
        "cache_write_input_tokens": _detail(details_in, "cache_creation", "cache_write", "cache_creation_input_tokens"),
        "reasoning_output_tokens": _detail(details_out, "reasoning", "reasoning_tokens"),
    }
    return build_usage(parts, RULES["langfuse"], "usageDetails")


def _detail(details: dict[str, int], *words: str) -> int | None:
    return next((value for key, value in details.items() if key.endswith(words)), None)
