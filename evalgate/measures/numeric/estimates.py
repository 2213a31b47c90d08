"""Estimates from few trials: 95 % confidence intervals, pass@k and pass^k, percentiles."""

from __future__ import annotations

from functools import lru_cache
from math import fsum, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Z_95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


@lru_cache(maxsize=4096)
def wilson_interval(passed: int, total: int, z: float = Z_95) -> tuple[float, float] | None:
    """Score interval of the share passed / total, within [0, 1]; None without trials.

    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n): E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", JASA 22 (1927). It does not shrink to a point if every trial
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


def paired_rates_interval(kept: int, lost: int, won: int, total: int) -> tuple[float, float] | None:
    """Interval of (won - lost) / total, the change of a pass rate over the same items; None without items.

    `kept` passed on both sides, `lost` only in the baseline, `won` only now. R. G. Newcombe, "Improved
    confidence intervals for the difference between binomial proportions based on paired data" (1998), method
    10: the Wilson intervals of both rates, narrowed by the correlation of the two.
    """
    baseline, current = wilson_interval(kept + lost, total), wilson_interval(kept + won, total)
    if baseline is None or current is None:
        return None
    baseline_rate, current_rate = (kept + lost) / total, (kept + won) / total
    correlation = _correlate(kept, lost, won, total - kept - lost - won)
    below, above = (
        (current_rate - current[0], baseline[1] - baseline_rate),
        (current[1] - current_rate, baseline_rate - baseline[0]),
    )
    low, high = (
        sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other)) for one, other in (below, above)
    )
    delta = current_rate - baseline_rate
    return round(max(delta - low, -1.0), 9), round(min(delta + high, 1.0), 9)


def _correlate(kept: int, lost: int, won: int, never: int) -> float:
    """Correlation of the two sides, with Newcombe's correction towards 0."""
    margins = (kept + lost) * (won + never) * (kept + won) * (lost + never)
    if margins == 0:
        return 0.0
    cross = float(kept * never - lost * won)
    if cross > 0:
        cross = max(cross - (kept + lost + won + never) / 2, 0.0)
    return cross / sqrt(margins)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's interval of the mean of changes in [-1, 1]; None for fewer than two.

    "The probable error of a mean", Biometrika 6 (1908).
    """
    count = len(values)
    if count < 2:  # noqa: PLR2004
        return None
    mean = fsum(values) / count
    spread = sqrt(fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
    half = student_point(count - 1) * spread
    return round(max(mean - half, -1.0), 9), round(min(mean + half, 1.0), 9)


def student_point(degrees: int) -> float:
    """Two-sided 95 % point of Student's distribution, within 0.03 of the tables and exact for 1 and 2."""
    exact = {1: 12.706204736, 2: 4.30265273}
    if degrees in exact:
        return exact[degrees]
    z, v = Z_95, float(degrees)
    terms = (
        z,
        (z**3 + z) / 4 / v,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96 / v**2,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / v**3,
    )
    return fsum(terms)


def pass_at_k(total: int, passed: int, k: int) -> float | None:
    """Chance that at least one of k trials passes; None with fewer than k trials.

    1 - C(n-c, k) / C(n, k): M. Chen et al., "Evaluating large language models trained on code" (2021).
    """
    failing = _chance_all_marked(total, total - passed, k)
    return None if failing is None else 1.0 - failing


def pass_hat_k(total: int, passed: int, k: int) -> float | None:
    """Chance that all of k trials pass (pass^k); None with fewer than k trials.

    C(c, k) / C(n, k): S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction" (2024).
    """
    return _chance_all_marked(total, passed, k)


def _chance_all_marked(total: int, marked: int, k: int) -> float | None:
    """Chance that k of `total`, drawn without replacement, are all among the `marked`."""
    if not 1 <= k <= total:
        return None
    if k > marked:
        return 0.0
    chance = 1.0
    for drawn in range(k):
        chance *= (marked - drawn) / (total - drawn)
    return chance


def nearest_rank(values: Iterable[float | None], percent: int) -> float | None:
    """Returns the least value with at least `percent` (1 to 100) of the known values at or below it.

    Unknown values are left out; None if all are unknown.
    """
    return rank_in_sorted(sorted(value for value in values if value is not None), percent)


def rank_in_sorted(values: Sequence[float], percent: int) -> float | None:
    """Returns the same for values that are known and sorted."""
    return values[max(-(-percent * len(values) // 100), 1) - 1] if values else None
