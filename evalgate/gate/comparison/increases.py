"""Compares cost, latency and tokens with the baseline: a scenario's mean may grow only up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.common.wording import format_share
from evalgate.gate.comparison.significance import permutation_p
from evalgate.measures.numeric.means import DIGITS, mean_amount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import ScenarioOutcome
    from evalgate.suite.policy import IncreaseLimit, RegressionPolicy


def find_increases(
    baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy
) -> list[str]:
    """One entry for each amount over its limit, like `cost +35% (limit +20%)`.

    Compared only if the policy sets a limit and every trial of both sides is known: unknown is not 0.
    If the policy requires evidence, the trials of both sides must differ significantly (p <= alpha).
    """
    if policy.cost is policy.latency is policy.tokens is None:
        return []
    amounts = (
        ("cost", policy.cost, baseline.costs, current.costs),
        ("latency", policy.latency, baseline.latencies, current.latencies),
        ("tokens", policy.tokens, baseline.tokens, current.tokens),
    )
    entries = (
        _explain_increase(name, limit, baseline_values, current_values)
        for name, limit, baseline_values, current_values in amounts
        if limit is not None
        and (not policy.require_evidence or _is_evident(baseline_values, current_values, policy.alpha))
    )
    return [entry for entry in entries if entry is not None]


def _is_evident(baseline: Sequence[float | None], current: Sequence[float | None], alpha: float) -> bool:
    baseline_values, current_values = (
        [value for value in side if value is not None] for side in (baseline, current)
    )
    return (
        min(len(baseline_values), len(current_values)) > 1
        and permutation_p(baseline_values, current_values) <= alpha
    )


def _explain_increase(
    name: str, limit: IncreaseLimit, baseline: Sequence[float | None], current: Sequence[float | None]
) -> str | None:
    baseline_mean, current_mean = mean_amount(baseline), mean_amount(current)
    if baseline_mean is None or current_mean is None or current_mean <= baseline_mean:
        return None
    allowed = format_share(limit.max_increase)
    if baseline_mean <= 0:
        return f"{name} {baseline_mean:g} -> {current_mean:g} (limit {allowed})"
    growth = round(current_mean / baseline_mean - 1, DIGITS)
    if growth <= round(limit.max_increase, DIGITS):
        return None
    shown = format_share(growth)
    return f"{name} {format_share(growth, digits=9) if shown == allowed else shown} (limit {allowed})"
