"""The price list of the package genai-prices, an extra: read from the package, never from the network."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from evalgate.measures.prices import PER, Rates

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

PACKAGE, MODULE = "genai-prices", "genai_prices"
MAX_NAME = 200
"""Characters of a model's name that is looked for."""
PROVIDERS = {
    "aws.bedrock": "aws",
    "az.ai.inference": "azure",
    "az.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gen_ai": "google",
    "x_ai": "x-ai",
    "xai": "x-ai",
}
"""Names that recorders have for providers which the list would not know, or takes for others."""
LOCAL = frozenset({"ollama", "vllm", "lm_studio", "lmstudio", "llama.cpp", "llamacpp", "mlx"})
"""What runs on one's own machine costs what no list knows."""
OF_BEDROCK = re.compile(r"(?:[a-z]{2,6}\.)?(?:amazon|anthropic|cohere|deepseek|meta|mistral)\.")
"""How names of models begin that only Amazon Bedrock has."""


class PriceList:
    """Prices by model and provider; see ports.PriceTable. The package is imported when the first is asked."""

    def __init__(self) -> None:
        self.rates = cache(_rates)

    def __reduce__(self) -> tuple[type[PriceList], tuple[()]]:
        """Sent to a worker it is that worker's own list, with nothing looked up yet."""
        return PriceList, ()

    @property
    def label(self) -> str:
        """The package with its version, for prices change with it."""
        from importlib.metadata import version

        return f"{PACKAGE} {version(PACKAGE)}"


def installed() -> PriceList | None:
    """The price list, None where the extra is not installed."""
    from importlib.util import find_spec

    return PriceList() if find_spec(MODULE) is not None else None


def _rates(model: str, provider: str | None, request_tokens: int) -> Rates | None:
    if len(model) > MAX_NAME or len(provider or "") > MAX_NAME:
        return None
    for name, sold_by in _readings(model, provider):
        rates = _listed(name, sold_by, request_tokens)
        if rates is not None:
            return rates
    return None


def _readings(model: str, provider: str | None) -> list[tuple[str, str | None]]:
    """What the two names may mean, the likeliest first: `openai/gpt-4o` is a provider and a model.

    A provider that the list knows is kept to: another one's price for the model would be a guess.
    """
    before, slash, rest = model.partition("/")
    names = [model, *([rest] if slash and rest else [])]
    sold_by = _provider(provider)
    if sold_by is not None:
        return [(name, sold_by) for name in names]
    if (provider or "").lower() in LOCAL or before.lower() in LOCAL:
        return []
    if OF_BEDROCK.match(model):
        return [(model, "aws")]
    named = _provider(before) if slash else None
    if named is not None:
        return [(rest, named), (model, named)]
    return [(name, None) for name in names]


def _provider(recorded: str | None) -> str | None:
    """The list's own name of a provider, None for one that it does not know."""
    if not recorded:
        return None
    name = PROVIDERS.get(recorded.lower(), recorded)
    from genai_prices.data_snapshot import get_snapshot

    try:
        return str(get_snapshot().find_provider(None, name, None).id)
    except LookupError:
        return None


def _listed(model: str, provider: str | None, request_tokens: int) -> Rates | None:
    """Rates found out by pricing one request of each kind of token; None for what is not listed.

    A price of 0 for everything says that the list does not know it.
    """
    try:
        fresh, output = _price(model, provider, request_tokens, output_tokens=PER)
        read, _ = _price(model, provider, request_tokens, cache_read_tokens=request_tokens)
        written, _ = _price(model, provider, request_tokens, cache_write_tokens=request_tokens)
    except (LookupError, ValueError):
        return None
    per_million = PER / request_tokens
    rates = Rates(
        _rounded(fresh, per_million),
        float(output),
        _rounded(read, per_million),
        _rounded(written, per_million),
    )
    return rates if any(rates) else None


def _price(model: str, provider: str | None, request_tokens: int, **parts: int) -> tuple[Decimal, Decimal]:
    from genai_prices import Usage, calc_price

    found = calc_price(
        Usage(input_tokens=request_tokens, **parts),
        model,
        provider_id=provider,
        genai_request_timestamp=_as_of(),
    )
    return found.input_price, found.output_price


def _rounded(amount: Decimal, per_million: float) -> float:
    return round(float(amount) * per_million, 9)


@cache
def _as_of() -> datetime:
    """One moment for all prices of a run, or the same traces would cost something else tomorrow."""
    from datetime import UTC, datetime

    return datetime(2026, 11, 10, 12, tzinfo=UTC)
