"""The ratio of two totals over the same scenarios, with an interval."""

from __future__ import annotations

from math import fsum, sqrt
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAWS = 2_000
FEWEST = 5
"""Scenarios that an interval needs: of four, draws with replacement have only 35 different samples."""
MOST_DRAWN = 200
"""Scenarios up to which samples are drawn; of more, the ratio is normally distributed."""
_NORMAL_95 = 1.959963984540054


def ratio_interval(pairs: Sequence[tuple[float, float]], seed: bytes) -> tuple[float, float]:
    """The 95 % interval of the sum of the second values divided by that of the first; the same seed gives the same.

    B. Efron, "Bootstrap methods: another look at the jackknife" (1979): percentiles over draws of the pairs. Of many
    pairs, the linearised variance of a ratio: W. G. Cochran, "Sampling techniques" (1977), section 6.4. First values
    are at least 0, and their sum is more than 0.
    """
    if len(pairs) > MOST_DRAWN:
        return _normal_interval(pairs)
    chance, count = Random(seed).random, len(pairs)  # noqa: S311  a fixed seed is what is wanted here
    found = []
    for _ in range(DRAWS):
        drawn = [pairs[int(chance() * count)] for _ in range(count)]
        total = sum(first for first, _ in drawn)
        if total > 0:
            found.append(sum(second for _, second in drawn) / total)
    found.sort()
    tail = len(found) // 40
    return found[tail], found[-1 - tail]


def _normal_interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    total = fsum(first for first, _ in pairs)
    ratio = fsum(second for _, second in pairs) / total
    spread = _NORMAL_95 * sqrt(fsum((second - ratio * first) ** 2 for first, second in pairs)) / total
    return max(0.0, ratio - spread), ratio + spread
