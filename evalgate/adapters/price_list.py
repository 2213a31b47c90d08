"""Model prices from the optional package genai-prices: read from the package, never from the network."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from evalgate.measures.prices import TOKENS_PER_RATE, Rates

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

PACKAGE, MODULE = "genai-prices", "genai_prices"
MAX_NAME = 200
"""Characters; a longer model name is not looked up."""
PROVIDER_ALIASES = {
    "aws.bedrock": "aws",
    "az.ai.inference": "azure",
    "az.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gen_ai": "google",
    "x_ai": "x-ai",
    "xai": "x-ai",
}
"""Recorded provider names that the list does not know, or would take for another provider."""
LOCAL_PROVIDERS = frozenset({"ollama", "vllm", "lm_studio", "lmstudio", "llama.cpp", "llamacpp", "mlx"})
"""Providers that run models on the user's machine: no list has their cost."""
BEDROCK_MODEL = re.compile(r"(?:[a-z]{2,6}\.)?(?:amazon|anthropic|cohere|deepseek|meta|mistral)\.")
"""Prefixes of model names that only Amazon Bedrock uses."""


class PriceList:
    """Prices by model and provider; implements `PriceTable`. The first look-up imports the package."""

    def __init__(self) -> None:
        self.rates = cache(_look_up_rates)

    def __reduce__(self) -> tuple[type[PriceList], tuple[()]]:
        """Pickles no cache: a worker gets a new, empty list."""
        return PriceList, ()

    @property
    def label(self) -> str:
        """The package with its version, since prices change with it."""
        from importlib.metadata import version

        return f"{PACKAGE} {version(PACKAGE)}"


def find_price_list() -> PriceList | None:
    """The price list, None if the package is not installed."""
    from importlib.util import find_spec

    return PriceList() if find_spec(MODULE) is not None else None


def _look_up_rates(model: str, provider: str | None, request_tokens: int) -> Rates | None:
    if len(model) > MAX_NAME or len(provider or "") > MAX_NAME:
        return None
    for name, sold_by in _name_candidates(model, provider):
        rates = _find_rates(name, sold_by, request_tokens)
        if rates is not None:
            return rates
    return None


def _name_candidates(model: str, provider: str | None) -> list[tuple[str, str | None]]:
    """Candidates of model and provider to look up, likeliest first: `openai/gpt-4o` names both.

    If the list knows the provider, no other is tried: another provider's price would be a guess.
    """
    prefix, slash, rest = model.partition("/")
    names = [model, *([rest] if slash and rest else [])]
    sold_by = _find_provider(provider)
    if sold_by is not None:
        return [(name, sold_by) for name in names]
    if (provider or "").lower() in LOCAL_PROVIDERS or prefix.lower() in LOCAL_PROVIDERS:
        return []
    if BEDROCK_MODEL.match(model):
        return [(model, "aws")]
    named = _find_provider(prefix) if slash else None
    if named is not None:
        return [(rest, named), (model, named)]
    return [(name, None) for name in names]


def _find_provider(recorded: str | None) -> str | None:
    """The list's name of a provider, None for an unknown one."""
    if not recorded:
        return None
    name = PROVIDER_ALIASES.get(recorded.lower(), recorded)
    from genai_prices.data_snapshot import get_snapshot

    try:
        return str(get_snapshot().find_provider(None, name, None).id)
    except LookupError:
        return None


def _find_rates(model: str, provider: str | None, request_tokens: int) -> Rates | None:
    """Finds the rates by pricing one request of each kind of token; None for an unlisted model.

    The list gives a model that it does not know the price 0 throughout.
    """
    try:
        fresh, output = _price(model, provider, request_tokens, output_tokens=TOKENS_PER_RATE)
        read, _ = _price(model, provider, request_tokens, cache_read_tokens=request_tokens)
        written, _ = _price(model, provider, request_tokens, cache_write_tokens=request_tokens)
    except (LookupError, ValueError):
        return None
    per_million = TOKENS_PER_RATE / request_tokens
    rates = Rates(
        _round_price(fresh, per_million),
        float(output),
        _round_price(read, per_million),
        _round_price(written, per_million),
    )
    return rates if any(rates) else None


def _price(model: str, provider: str | None, request_tokens: int, **parts: int) -> tuple[Decimal, Decimal]:
    from genai_prices import Usage, calc_price

    found = calc_price(
        Usage(input_tokens=request_tokens, **parts),
        model,
        provider_id=provider,
        genai_request_timestamp=_price_date(),
    )
    return found.input_price, found.output_price


def _round_price(amount: Decimal, per_million: float) -> float:
    return round(float(amount) * per_million, 9)


@cache
def _price_date() -> datetime:
    """A fixed date for price look-ups: otherwise the same traces would cost something else tomorrow."""
    from datetime import UTC, datetime

    return datetime(2026, 11, 10, 12, tzinfo=UTC)
