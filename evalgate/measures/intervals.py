"""How sure a share of a few trials can be."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

Z_95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


@lru_cache(maxsize=4096)
def wilson(passed: int, total: int, z: float = Z_95) -> tuple[float, float] | None:
    """Score interval of the share passed / total, within [0, 1]; None without trials.

    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n): E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", JASA 22 (1927). It does not shrink to a point where every trial
    passed or none did.
    """
    if total <= 0:
        return None
    share, square = passed / total, z * z / total
    middle = (share + square / 2) / (1 + square)
    half = z * sqrt(share * (1 - share) / total + square / (4 * total)) / (1 + square)
    low = 0.0 if passed == 0 else middle - half
    high = 1.0 if passed == total else middle + half
    return round(max(low, 0.0), 9), round(min(high, 1.0), 9)
