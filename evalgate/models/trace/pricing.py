"""How the cost of a trace was computed, so that it can be computed again with other prices."""

from __future__ import annotations

from typing import Annotated, TypedDict

from msgspec import Meta

Tokens = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A number that every JSON reader can hold."""
Amount = Tokens | Annotated[float, Meta(ge=-1e30, le=1e30)]
"""Larger than any sum of recorded values, and small enough to calculate with; 1 and 1.0 are written as they are."""


class ModelUsage(TypedDict):
    """Tokens of one model in requests of one size; `input_tokens` include cache reads and writes.

    `request_tokens` is the smallest input of a request that has the same price per token.
    """

    model: str
    provider: str | None
    request_tokens: Tokens
    input_tokens: Tokens
    output_tokens: Tokens
    cache_read_input_tokens: Tokens
    cache_write_input_tokens: Tokens


class Pricing(TypedDict):
    """A computed cost in US dollars: `usd` is the total, None if `missing_models` have no price.

    `known_usd` is the known part, of which `recorded_usd` was recorded by single calls. `table` names the
    price table, None if there was none. `usage` is None if it was too large to keep.
    """

    table: str | None
    usd: Amount | None
    known_usd: Amount
    recorded_usd: Amount
    missing_models: list[str]
    usage: list[ModelUsage] | None
