"""How many trials or pairs would decide a change, if rates stay as they were observed.

That is the fewest with which at least half of what could be recorded then reaches alpha: the median of the numbers that
it takes. The chance is computed from every table, not drawn.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import fsum
from typing import TYPE_CHECKING

from evalgate.gate.comparison.significance import mcnemar
from evalgate.measures.numeric.boschloo import binomial, rejected_tables

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_TRIALS = 64
"""The largest number that a message recommends."""
HALF = 0.5


@lru_cache(maxsize=4096)
def trials_for_flip(a_passed: int, a_total: int, b_passed: int, b_total: int, alpha: float) -> int | None:
    """The fewest trials a side that would decide at these pass rates, more than now; None if over 64."""
    rates = a_passed / a_total, b_passed / b_total
    if rates[0] == rates[1]:
        return None

    @cache
    def decides(trials: int) -> bool:
        of_a, of_b = (binomial(trials, rate) for rate in rates)
        rejected = rejected_tables(trials, trials, alpha)
        rows = zip(of_a, rejected.least, rejected.most, strict=True)
        chance = fsum(row * (fsum(of_b[least:]) + fsum(of_b[: max(0, most + 1)])) for row, least, most in rows)
        return chance >= HALF

    return _find_fewest(min(a_total, b_total) + 1, decides)


@lru_cache(maxsize=4096)
def pairs_for_flip(one_way: int, other_way: int, pairs: int, alpha: float) -> int | None:
    """The fewest pairs that would decide, if they went on changing so, more than now; None if over 64."""
    if one_way == other_way:
        return None
    share, either = one_way / (one_way + other_way), (one_way + other_way) / pairs

    def decides(count: int) -> bool:
        changed = binomial(count, either)
        return fsum(chance * _decided(number, share, alpha) for number, chance in enumerate(changed)) >= HALF

    return _find_fewest(pairs + 1, decides)


def _decided(changed: int, share: float, alpha: float) -> float:
    """The chance that so many changed pairs, each one way with this chance, reach alpha."""
    ways = binomial(changed, share)
    return fsum(chance for one, chance in enumerate(ways) if mcnemar(one, changed - one) <= alpha)


def _find_fewest(first: int, decides: Callable[[int], bool]) -> int | None:
    """The fewest that decides, found by doubling, then by halving; one more may lower the chance a little."""
    if first > MOST_TRIALS:
        return None
    low, high = first, first
    while not decides(high):
        if high == MOST_TRIALS:
            return None
        low, high = high + 1, min(2 * high, MOST_TRIALS)
    while low < high:
        middle = (low + high) // 2
        if decides(middle):
            high = middle
        else:
            low = middle + 1
    return high
