"""What one call of a provider cost: as its answer says, or by its tokens and a list of prices."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.adapters.formats.core.provider_response import read_provider_response
from evalgate.adapters.formats.core.usage import read_provider_usage
from evalgate.errors import TraceError
from evalgate.features.record.measures.streams import read_answer
from evalgate.features.record.models.exchange import FIRST_ERROR, CallCost
from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from evalgate.application.evaluation.pricing import Pricer
    from evalgate.features.record.models.exchange import Exchange
    from evalgate.models.trace.trace import Usage

FREE = ("count_tokens", "models")
"""Ends of paths that no provider charges for."""
NO_USAGE = "an answer has no token counts (streams of chat completions have them with stream_options.include_usage)"
BROKEN = "an answer broke off, so its tokens are not known"


def measure_cost(exchange: Exchange, pricer: Pricer) -> CallCost:
    """The cost of a request that a provider answered; errors, and requests that ask no model, cost nothing."""
    request, answer = exchange.request, exchange.answer
    path = request.path.partition("?")[0].rstrip("/")
    if request.method != "POST" or path.endswith(FREE) or (answer.status >= FIRST_ERROR and not answer.is_broken):
        return CallCost("list_price")
    found = read_answer(answer)
    metered = _read_metered(found.value.get("usage"))
    if metered is not None:
        return CallCost("metered", metered)
    if answer.is_broken or not found.is_complete:
        return CallCost("unknown", reason=BROKEN)
    response = read_provider_response(found.value)
    usage = response.usage or _read_input_only(found.value)
    if usage is None or usage["input_tokens"] is None or usage["output_tokens"] is None:
        return CallCost("unknown", reason=NO_USAGE)
    model = response.model or _read_model(request.body)
    usd = pricer.price_call(model, request.provider, usage)
    if usd is None:
        return CallCost("unknown", reason=f"no price is known for {shorten(model or 'a model without a name')}")
    return CallCost("list_price", usd)


def _read_metered(usage: Any) -> float | None:
    """The cost in US dollars that gateways such as OpenRouter give beside the tokens."""
    cost = usage.get("cost") if isinstance(usage, dict) else None
    amount: Any = cost.get("total_cost") if isinstance(cost, dict) else cost
    is_amount = isinstance(amount, int | float) and not isinstance(amount, bool)
    return float(amount) if is_amount and isfinite(amount) and amount >= 0 else None


def _read_input_only(value: dict[str, Any]) -> Usage | None:
    """The tokens of an answer without text: embeddings have input only."""
    reported = value.get("usage")
    if not isinstance(value.get("data"), list) or not isinstance(reported, dict):
        return None
    try:
        return read_provider_usage({"completion_tokens": 0, **reported}, "")
    except TraceError:
        return None


def _read_model(body: bytes) -> str | None:
    try:
        value = orjson.loads(body)
    except ValueError:
        return None
    model = value.get("model") if isinstance(value, dict) else None
    return model if isinstance(model, str) else None
