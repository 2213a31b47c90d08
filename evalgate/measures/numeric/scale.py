"""Figures brought onto the scale of a score, from 0 to 1."""

from __future__ import annotations

from math import isfinite


def normalize_score(value: float, minimum: float = 0.0, maximum: float = 1.0) -> float:
    """Where a value lies between two ends, in [0, 1]; what lies outside stands at the nearer end.

    Raises ValueError for ends that are none, and for what is no number.

    >>> normalize_score(7, 0, 10), normalize_score(-3, 0, 10), normalize_score(12, 0, 10)
    (0.7, 0.0, 1.0)
    """
    if not (isfinite(minimum) and isfinite(maximum) and minimum < maximum) or value != value:  # noqa: PLR0124
        raise ValueError(f"{value} has no place between {minimum} and {maximum}")
    if value <= minimum:
        return 0.0
    return 1.0 if value >= maximum else min(1.0, (value - minimum) / (maximum - minimum))
