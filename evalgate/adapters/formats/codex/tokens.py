"""Reads the token counts of Codex: running totals under Codex's field names."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import count, mapping
from evalgate.adapters.formats.core.usage.usage_fields import total_tokens
from evalgate.models.trace.trace import Usage, unknown_usage


def read_total_usage(value: Any, path: str) -> Usage | None:
    """Usage; raises FieldError. Input includes cache; output includes reasoning, as the total shows."""
    if value is None:
        return None
    fields = mapping(value, path)
    tokens_in, tokens_out, reasoning, total = (
        count(fields.get(key), f"{path}.{key}")
        for key in ("input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
    )
    parts_sum = (tokens_in or 0) + (tokens_out or 0) + (reasoning or 0)
    if reasoning and tokens_out is not None and total == parts_sum:
        tokens_out += reasoning
    usage = unknown_usage()
    usage["input_tokens"], usage["output_tokens"] = tokens_in, tokens_out
    usage["cache_read_input_tokens"] = count(fields.get("cached_input_tokens"), f"{path}.cached_input_tokens")
    usage["reasoning_output_tokens"] = reasoning
    usage["total_tokens"] = total_tokens(usage) if total is None else total
    usage["source"] = "recorded_total"
    return usage
