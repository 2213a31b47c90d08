"""Scales values to a score from 0 to 1."""

from __future__ import annotations

from math import isfinite


def normalize_score(value: float, minimum: float = 0.0, maximum: float = 1.0) -> float:
    """Returns where a value lies between two bounds, in [0, 1]; values outside are clamped.

    Raises ValueError if the bounds are not finite and ascending, or the value is NaN.

    >>> normalize_score(7, 0, 10), normalize_score(-3, 0, 10), normalize_score(12, 0, 10)
    (0.7, 0.0, 1.0)
    """
    if not (isfinite(minimum) and isfinite(maximum) and minimum < maximum) or value != value:  # noqa: PLR0124
        raise ValueError(f"{value} has no place between {minimum} and {maximum}")
    if value <= minimum:
        return 0.0
    return 1.0 if value >= maximum else min(1.0, (value - minimum) / (maximum - minimum))
