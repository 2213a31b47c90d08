"""The most that a recording asks providers for: a number of model calls, and what they cost."""

from __future__ import annotations

import asyncio
from math import fsum
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct

from evalgate.features.record.models.exchange import JSON, CallCost, CostKind, ProviderAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.features.record.models.exchange import Exchange

REFUSED = "evalgate_call_cap"
"""The type of the error that the agent gets."""
CENT = 0.01


class CapLimits(Struct, frozen=True):
    """The most model calls and US dollars of a recording, or of each of its trials. None: no limit."""

    calls: int | None = None
    usd: float | None = None
    per_trial: bool = False


class Cap:
    """Counts the requests that go to a provider, and what they cost; replayed answers cost nothing.

    With a limit in dollars requests go one after another, since what one costs is known when it is answered: so at
    most one goes beyond the limit. After a call of unknown cost none goes: nothing would bound the others.
    """

    def __init__(self, limits: CapLimits, measure: Callable[[Exchange], CallCost] | None = None) -> None:
        self._limits, self._measure = limits, measure
        self._turn = asyncio.Lock()
        self._asked = 0
        self.costs: list[CallCost] = []
        self.reached: str | None = None
        """The limit at which a request was refused, in words."""

    async def take(self) -> bool:
        """Whether one more request may go to the provider, which must then be released. Waits for the one before."""
        if self._measure is not None:
            await self._turn.acquire()
        limit = self._find_limit()
        if limit is not None:
            self.reached = limit
            self.release()
            return False
        self._asked += 1
        return True

    def add(self, exchange: Exchange) -> None:
        """Adds what an answered request cost."""
        if self._measure is not None:
            self.costs.append(self._measure(exchange))

    def release(self) -> None:
        """Lets the next request go."""
        if self._measure is not None:
            self._turn.release()

    def _find_limit(self) -> str | None:
        """The limit that is used up, in words."""
        calls, usd = self._limits.calls, self._limits.usd
        each = " of each trial" if self._limits.per_trial else ""
        if calls is not None and self._asked >= calls:
            return f"the cap of {calls:,} model call{'' if calls == 1 else 's'}{each} (--max-calls)"
        if usd is None:
            return None
        if unknown := next((cost.reason for cost in self.costs if cost.kind == "unknown"), None):
            return f"a call that --max-usd can't bound: {unknown}"
        return f"the cap of {usd:g} USD{each} (--max-usd)" if sum_costs(self.costs) >= usd else None

    def build_answer(self, provider: str) -> ProviderAnswer:
        """The error that the agent gets, in the provider's shape; SDKs don't send the request again."""
        message = f"evalgate record sends no more requests: {self.reached} is reached"
        error = {"type": REFUSED, "message": message}
        body = {"type": "error", "error": error} if provider == "anthropic" else {"error": {**error, "code": REFUSED}}
        return ProviderAnswer(429, JSON, [(0.0, orjson.dumps(body))], {"x-should-retry": "false"})


def sum_costs(costs: Iterable[CallCost]) -> float:
    """What is known to be spent: a limit bounds all kinds together, which a report never adds."""
    return fsum(cost.usd for cost in costs)


def describe_costs(costs: Sequence[CallCost]) -> str:
    """What a recording cost, each kind apart.

    >>> describe_costs([CallCost("list_price", 1.5), CallCost("list_price", 0.34)])
    'recording cost 1.84 USD (list price)'
    >>> describe_costs([CallCost("metered", 0.0004), CallCost("list_price", 2), CallCost("unknown", reason="no price")])
    'recording cost 0.0004 USD (metered), 2.00 USD (list price), and 1 call of unknown cost (no price)'
    """
    kinds: tuple[tuple[CostKind, str], ...] = (("metered", "metered"), ("list_price", "list price"))
    own = [(name, [cost for cost in costs if cost.kind == kind]) for kind, name in kinds]
    parts = [f"{_format_usd(sum_costs(found))} USD ({name})" for name, found in own if found]
    unknown = [cost.reason for cost in costs if cost.kind == "unknown"]
    if unknown:
        calls = f"{len(unknown):,} call{'' if len(unknown) == 1 else 's'}"
        parts.append(f"{'and ' if parts else ''}{calls} of unknown cost ({unknown[0]})")
    return f"recording cost {', '.join(parts) or 'nothing: no call went to a provider'}"


def _format_usd(usd: float) -> str:
    return f"{usd:,.2f}" if usd >= CENT or not usd else f"{usd:.2g}"
