"""How the cost of a trace was computed, so that it can be computed again under other prices."""

from __future__ import annotations

from typing import TypedDict


class ModelUsage(TypedDict):
    """Tokens of one model in requests of one size; `input_tokens` include both kinds of cached ones.

    `request_tokens` is the least input of a request that has the same price per token as these.
    """

    model: str
    provider: str | None
    request_tokens: int
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_write_input_tokens: int


class Pricing(TypedDict):
    """Tokens priced. US dollars: `usd` is the whole, None where a model of `missing_models` has no price.

    `known_usd` is the part that is known, of which `recorded_usd` was recorded by single calls. `table` names
    the prices used; None where there were none. `usage` is None where it was too much to keep.
    """

    table: str | None
    usd: float | None
    known_usd: float
    recorded_usd: float
    missing_models: list[str]
    usage: list[ModelUsage] | None
