"""Estimates how many scenarios chance alone would call broken or fixed if nothing had changed."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING

from evalgate.gate.comparison.paired_tests import mcnemar
from evalgate.gate.comparison.significance import DIGITS, likelihoods
from evalgate.gate.comparison.trial_tests import flipped, paired

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import ScenarioOutcome
    from evalgate.suite.policy import RegressionPolicy


def false_alarm(
    before: ScenarioOutcome, now: ScenarioOutcome, policy: RegressionPolicy, level: float
) -> float:
    """Chance that the test of this scenario's flip gives p <= `alpha` if nothing changed.

    Exact, given how many trials passed on both sides together (with pairs: how many pairs changed): the
    largest p-value up to `alpha` that the test can give there at all.
    """
    if policy.pair_by is not None:
        lost, won = flipped(before, now, paired(before.trials, now.trials))
        return mcnemar_tail(lost + won, level)
    passed = sum(before.passed) + sum(now.passed)
    return fisher_tail(passed, len(before.passed), len(now.passed), level)


@lru_cache(maxsize=4096)
def fisher_tail(passed: int, a_total: int, b_total: int, level: float) -> float:
    """Chance of a split with Fisher's p <= `alpha`, if both sides pass equally often and `passed` in all."""
    weights = sorted(likelihoods(passed, a_total, b_total).values())
    total, reached, tail = fsum(weights), 0.0, 0.0
    for place, weight in enumerate(weights, 1):
        reached += weight
        if place < len(weights) and weights[place] <= weight * (1 + 1e-9):
            continue  # tables as likely as this one share its p-value
        if round(reached / total, DIGITS) > level:
            break
        tail = reached / total
    return tail


def mcnemar_tail(changed: int, level: float) -> float:
    """Chance of McNemar's p <= `alpha`, if each of `changed` pairs went either way with equal chance."""
    extreme = bisect_right(
        range(changed // 2 + 1), level, key=lambda one_way: mcnemar(one_way, changed - one_way)
    )
    return mcnemar(extreme - 1, changed - extreme + 1) if extreme else 0.0
