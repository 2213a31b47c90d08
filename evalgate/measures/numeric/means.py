"""Means that depend neither on the order of their values nor on their size."""

from __future__ import annotations

from math import fsum
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DIGITS = 9
"""Decimal places in which a difference must show: 0.90 - 0.85 is not more than 0.05."""

SAFE_LOW, SAFE_HIGH = 1e-100, 1e100
"""Weights between them can be summed without scaling."""


def mean_score(scores: Sequence[float]) -> float | None:
    """Returns the mean of scores, rounded to 1e-9; None without scores."""
    return round(fsum(scores) / len(scores), DIGITS) if scores else None


def mean_amount(amounts: Sequence[float | None]) -> float | None:
    """Returns the mean of amounts; None without amounts or if one is unknown, as unknown is never 0."""
    known = [amount for amount in amounts if amount is not None]
    if not known or len(known) < len(amounts):
        return None
    largest = max(map(abs, known)) or 1.0
    return largest * (fsum(amount / largest for amount in known) / len(known))


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float | None:
    """Returns the mean of scores by weights >= 0, rounded to 1e-9; None if all weights are 0."""
    heaviest = max(weights, default=0.0)
    if heaviest <= 0:
        return None
    if not SAFE_LOW < heaviest < SAFE_HIGH:
        weights = [weight / heaviest for weight in weights]
    return round(fsum(map(mul, scores, weights)) / fsum(weights), DIGITS)
