"""Cost of model calls: tokens times prices."""

from __future__ import annotations

from bisect import bisect_left
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalgate.models.run.trial_doc import PricingDoc
    from evalgate.models.trace.pricing import ModelUsage, Pricing

TOKENS_PER_RATE = 1_000_000
DIGITS = 12
"""Decimal places of a computed amount: single tokens cost down to 1e-8 US dollars."""

REQUEST_SIZES = (32_000, 100_000, 128_000, 199_999, 200_000, 256_000, 272_000, 512_000, 524_288)
"""Input tokens of a request above which some provider charges more for all of its tokens."""


class Rates(NamedTuple):
    """US dollars per million tokens; `input` is for tokens neither read from a cache nor written to one."""

    input: float
    output: float
    cache_read: float
    cache_write: float


def smallest_request(input_tokens: int) -> int:
    """Returns the input tokens of the smallest request with the same price per token.

    >>> smallest_request(0), smallest_request(32_000), smallest_request(150_000)
    (1, 1, 128001)
    """
    index = bisect_left(REQUEST_SIZES, input_tokens)
    return REQUEST_SIZES[index - 1] + 1 if index else 1


def compute_cost(rates: Rates, usage: ModelUsage) -> float:
    """Computes what the tokens cost. If cached tokens exceed input tokens, only cached ones are charged."""
    read, written = usage["cache_read_input_tokens"], usage["cache_write_input_tokens"]
    uncached = max(0, usage["input_tokens"] - read - written)
    amounts = (
        uncached * rates.input,
        read * rates.cache_read,
        written * rates.cache_write,
        usage["output_tokens"] * rates.output,
    )
    return fsum(amounts) / TOKENS_PER_RATE


def sum_amounts(amounts: Iterable[float]) -> float:
    """Sums amounts; the result does not depend on their order."""
    return round(fsum(amounts), DIGITS)


HOW_TO_PRICE = "install evalgate-action[prices] (without internet: docs/enterprise.md) or set `prices`"
SET_PRICES = "set `prices` in evalgate.yaml or a suite"
MAX_MODELS = 5
"""Models that are named."""


def explain_unknown_cost(pricings: Iterable[Pricing | PricingDoc | None], mark: Callable[[str], str] = shorten) -> str:
    """Why the cost of trials is unknown, and how to get it; `pricings` are theirs, `mark` cuts the name of a model."""
    priced = [each for each in pricings if each is not None]
    if not priced:
        return "neither a cost nor a model with the tokens of all its calls is recorded"
    if any(each["table"] is None for each in priced):
        return f"tokens are recorded, but prices are missing: {HOW_TO_PRICE}"
    return describe_unpriced({model for each in priced for model in each["missing_models"]}, mark)


def describe_unpriced(models: Iterable[str], mark: Callable[[str], str] = shorten) -> str:
    """Says which models have no price, and how to give them one."""
    names = sorted(models)
    more = f" and {len(names) - MAX_MODELS} more" if len(names) > MAX_MODELS else ""
    return f"no price is known for {', '.join(map(mark, names[:MAX_MODELS]))}{more}; {SET_PRICES}"
