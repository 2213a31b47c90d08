"""Cached responses of a scheduling suite, one file each. Entry points: `RESPONSE_CACHE`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format

NEEDED = frozenset({"tool_calls", "content"})
USAGE = "usage_metadata"
OTHER_FORMATS = frozenset({"role", "type", "messages", "turns", "metadata", "response", "kwargs", "data", "schema"})


def _claims_response_cache(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() >= NEEDED or not OTHER_FORMATS.isdisjoint(value):
        return False
    calls = value["tool_calls"]
    return USAGE in value and (calls is None or isinstance(calls, list))


RESPONSE_CACHE = Format(
    name="response-cache",
    needs="`tool_calls`, `content` and `usage_metadata`",
    claims=_claims_response_cache,
    module="response_cache.reader",
)
