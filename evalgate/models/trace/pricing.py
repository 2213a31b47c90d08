"""How the cost of a trace was computed, so that it can be computed again with other prices."""

from __future__ import annotations

from typing import TypedDict


class ModelUsage(TypedDict):
    """Tokens of one model in requests of one size; `input_tokens` include cache reads and writes.

    `request_tokens` is the smallest input of a request that has the same price per token.
    """

    model: str
    provider: str | None
    request_tokens: int
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_write_input_tokens: int


class Pricing(TypedDict):
    """A computed cost in US dollars: `usd` is the total, None if `missing_models` have no price.

    `known_usd` is the known part, of which `recorded_usd` was recorded by single calls. `table` names the
    price table, None if there was none. `usage` is None if it was too large to keep.
    """

    table: str | None
    usd: float | None
    known_usd: float
    recorded_usd: float
    missing_models: list[str]
    usage: list[ModelUsage] | None
