"""Compares cost, latency and tokens with the baseline: a scenario's mean may grow only up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.wording import share
from evalgate.gate.comparison.significance import permutation_p
from evalgate.measures.numeric.means import DIGITS, mean_amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import ScenarioOutcome
    from evalgate.suite.policy import IncreaseLimit, RegressionPolicy


def increases(before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy) -> list[str]:
    """One entry for each amount over its limit, like `cost +35% (limit +20%)`.

    Compared only if the policy sets a limit and every trial of both sides is known: unknown is not 0.
    If the policy requires evidence, the trials of both sides must differ significantly (p <= alpha).
    """
    if policy.cost is policy.latency is policy.tokens is None:
        return []
    figures = (
        ("cost", policy.cost, before.costs, now.costs),
        ("latency", policy.latency, before.latencies, now.latencies),
        ("tokens", policy.tokens, before.tokens, now.tokens),
    )
    entries = (
        _increase(name, limit, old, new)
        for name, limit, old, new in figures
        if limit is not None and (not policy.require_evidence or _is_evident(old, new, policy.alpha))
    )
    return [entry for entry in entries if entry is not None]


def _is_evident(before: Sequence[float | None], now: Sequence[float | None], alpha: float) -> bool:
    old, new = ([value for value in side if value is not None] for side in (before, now))
    return min(len(old), len(new)) > 1 and permutation_p(old, new) <= alpha


def _increase(
    name: str, limit: IncreaseLimit, before: Sequence[float | None], now: Sequence[float | None]
) -> str | None:
    old, new = mean_amount(before), mean_amount(now)
    if old is None or new is None or new <= old:
        return None
    allowed = share(limit.max_increase)
    if old <= 0:
        return f"{name} {old:g} -> {new:g} (limit {allowed})"
    growth = round(new / old - 1, DIGITS)
    if growth <= round(limit.max_increase, DIGITS):
        return None
    shown = share(growth)
    return f"{name} {share(growth, digits=9) if shown == allowed else shown} (limit {allowed})"
