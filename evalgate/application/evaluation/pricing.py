"""The cost of a trace: as recorded, else its tokens times the prices of the suite or of a price list."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from evalgate.measures.prices import compute_cost, explain_unknown_cost, smallest_request, sum_amounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.measures.prices import Rates
    from evalgate.models.trace.pricing import ModelUsage, Pricing
    from evalgate.models.trace.trace import LlmCall, Trace, Usage
    from evalgate.ports import PriceTable
    from evalgate.suite.models import SuitePrices

    Rows = dict[tuple[str, str | None, int], ModelUsage]

MAX_ROWS = 50
"""Kinds of requests of one trace (model, provider, size) kept to price them again."""
TOLERANCE = 0.01
Source = Literal["computed", "partial", "unknown"]


class Pricer:
    """The prices in force for one suite."""

    def __init__(self, suite_prices: SuitePrices, table: PriceTable | None) -> None:
        self._suite_prices = suite_prices
        self._table = table
        self._has_prices = bool(suite_prices.entries) or table is not None

    @cached_property
    def label(self) -> str | None:
        """The names of all price tables together; None without any."""
        labels = (self._suite_prices.label, None if self._table is None else self._table.label)
        return " + ".join(filter(None, labels)) or None

    def price(self, trace: Trace) -> None:
        """Computes the cost of a trace without recorded cost, as far as tokens and prices are known."""
        if trace.cost["source"] == "recorded" and trace.cost["usd"] is not None:
            return
        usages, recorded = _collect_usage(trace)
        if not usages:
            return
        if not self._has_prices and trace.cost["usd"] is not None:
            return  # computed before, in a run that had prices
        trace.pricing = pricing = self._compute_pricing(usages, recorded)
        trace.cost = {"usd": pricing["usd"], "source": _source(pricing), "price_table": self.label}
        if pricing["usd"] is None:
            least = f"; the rest costs {pricing['known_usd']:g} USD" if pricing["known_usd"] else ""
            trace.cost["note"] = f"{explain_unknown_cost([pricing])}{least}"
        if pricing["known_usd"] and pricing["usd"] is None:
            trace.cost["known_usd"] = pricing["known_usd"]

    def price_call(self, model: str | None, provider: str | None, usage: Usage) -> float | None:
        """Computes what one request cost; None if its tokens or the price of its model are unknown."""
        row = _usage_row(model, provider, usage, None)
        rates = None if row is None else self._rates(row)
        return None if row is None or rates is None else compute_cost(rates, row)

    def reprice(self, pricing: Pricing) -> Pricing:
        """Computes the cost again at these prices, unless its token counts were not kept."""
        if pricing["table"] == self.label:
            return pricing
        if pricing["usage"] is None:
            return {**pricing, "table": self.label, "usd": None}
        return self._compute_pricing(pricing["usage"], pricing["recorded_usd"])

    def _compute_pricing(self, usages: Sequence[ModelUsage], recorded: float) -> Pricing:
        amounts, missing = [recorded], dict[str, None]()
        for usage in usages:
            rates = self._rates(usage)
            if rates is None:
                missing[usage["model"]] = None
            else:
                amounts.append(compute_cost(rates, usage))
        amount = sum_amounts(amounts)
        return {
            "table": self.label,
            "usd": None if missing else amount,
            "known_usd": amount,
            "recorded_usd": recorded,
            "missing_models": list(missing),
            "usage": list(usages) if len(usages) <= MAX_ROWS else None,
        }

    def _rates(self, usage: ModelUsage) -> Rates | None:
        is_listed, rates = self._suite_prices.find(usage["model"])
        if is_listed or self._table is None:
            return rates
        return self._table.rates(usage["model"], usage["provider"], usage["request_tokens"])


def _source(pricing: Pricing) -> Source:
    if pricing["usd"] is not None:
        return "computed"
    return "partial" if pricing["known_usd"] else "unknown"


def _collect_usage(trace: Trace) -> tuple[list[ModelUsage], float]:
    """Tokens by model and request size, and the sum of costs recorded with single calls.

    Calls are used if they add up to the tokens of the whole run. Otherwise the run is priced as a whole, as
    requests of the smallest size, if it used one model. Nothing is priced if some calls of the run lack token
    counts.
    """
    if _is_partial(trace):
        return [], 0.0
    calls = [call for call in trace.llm_calls if call["usage"] is not None]
    if calls and _has_matching_totals(calls, trace.usage):
        rows: Rows = {}
        recorded = 0.0
        for call in calls:
            if call["cost_usd"]:
                recorded = sum_amounts((recorded, call["cost_usd"]))
                continue
            row = _usage_row(call["model"] or trace.model, call["provider"] or trace.provider, call["usage"], None)
            if row is None:
                return [], 0.0
            _merge_row(rows, row)
        return list(rows.values()), recorded
    models = {call["model"] for call in trace.llm_calls if call["model"]}
    if len(models) > 1:
        return [], 0.0
    whole = _usage_row(next(iter(models), trace.model), trace.provider, trace.usage, 1)
    return ([] if whole is None else [whole]), 0.0


def _is_partial(trace: Trace) -> bool:
    """Whether the run's tokens are unknown because some of its model calls have no token counts."""
    if trace.usage["input_tokens"] is not None and trace.usage["output_tokens"] is not None:
        return False
    has_silent = any(call["usage"] is None and "error" not in call for call in trace.llm_calls)
    return has_silent or any(warning["code"] == "tokens_incomplete" for warning in trace.warnings)


def _usage_row(
    model: str | None, provider: str | None, usage: Usage | None, request_tokens: int | None
) -> ModelUsage | None:
    """One request, or several of size `request_tokens`; None if model or tokens are unknown."""
    if not model or usage is None:
        return None
    tokens_in, tokens_out = usage["input_tokens"], usage["output_tokens"]
    if tokens_in is None or tokens_out is None or not tokens_in + tokens_out:
        return None
    return {
        "model": model,
        "provider": provider,
        "request_tokens": smallest_request(tokens_in) if request_tokens is None else request_tokens,
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "cache_read_input_tokens": usage["cache_read_input_tokens"] or 0,
        "cache_write_input_tokens": usage["cache_write_input_tokens"] or 0,
    }


def _merge_row(rows: Rows, row: ModelUsage) -> None:
    key = row["model"], row["provider"], row["request_tokens"]
    into = rows.setdefault(key, row)
    if into is not row:
        into["input_tokens"] += row["input_tokens"]
        into["output_tokens"] += row["output_tokens"]
        into["cache_read_input_tokens"] += row["cache_read_input_tokens"]
        into["cache_write_input_tokens"] += row["cache_write_input_tokens"]


def _has_matching_totals(calls: Iterable[LlmCall], whole: Usage) -> bool:
    """Whether the calls' tokens add up to those of the whole run, as far as recorded."""
    usages = [call["usage"] for call in calls if call["usage"] is not None]
    for name in ("input_tokens", "output_tokens"):
        recorded = whole[name]
        summed = sum(usage[name] or 0 for usage in usages)
        if recorded is not None and abs(recorded - summed) > TOLERANCE * max(recorded, summed):
            return False
    return True
