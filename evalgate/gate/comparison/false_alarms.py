"""Estimates how many scenarios chance alone would call broken or fixed if nothing had changed."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING

from evalgate.gate.comparison.paired_tests import mcnemar
from evalgate.gate.comparison.significance import DIGITS, likelihoods
from evalgate.gate.comparison.trial_tests import count_flips, pair_trials

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import ScenarioOutcome
    from evalgate.suite.policy import RegressionPolicy


def estimate_false_alarm(
    baseline: ScenarioOutcome, current: ScenarioOutcome, policy: RegressionPolicy, alpha: float
) -> float:
    """Chance that the test of this scenario's flip gives p <= `alpha` if nothing changed.

    Exact, given how many trials passed on both sides together (with pairs: how many pairs changed): the
    largest p-value up to `alpha` that the test can give there at all.
    """
    if policy.pair_by is not None:
        lost, won = count_flips(baseline, current, pair_trials(baseline.trials, current.trials))
        return mcnemar_tail(lost + won, alpha)
    passed = sum(baseline.passed) + sum(current.passed)
    return fisher_tail(passed, len(baseline.passed), len(current.passed), alpha)


@lru_cache(maxsize=4096)
def fisher_tail(passed: int, a_total: int, b_total: int, alpha: float) -> float:
    """Chance of a split with Fisher's p <= `alpha`, if both sides pass equally often and `passed` in all."""
    weights = sorted(likelihoods(passed, a_total, b_total).values())
    total, reached, tail = fsum(weights), 0.0, 0.0
    for position, weight in enumerate(weights, 1):
        reached += weight
        if position < len(weights) and weights[position] <= weight * (1 + 1e-9):
            continue  # tables as likely as this one share its p-value
        if round(reached / total, DIGITS) > alpha:
            break
        tail = reached / total
    return tail


def mcnemar_tail(changed: int, alpha: float) -> float:
    """Chance of McNemar's p <= `alpha`, if each of `changed` pairs went either way with equal chance."""
    extreme = bisect_right(
        range(changed // 2 + 1), alpha, key=lambda one_way: mcnemar(one_way, changed - one_way)
    )
    return mcnemar(extreme - 1, changed - extreme + 1) if extreme else 0.0
