"""Boschloo's exact test of two pass rates, for numbers of trials that were fixed before.

R. D. Boschloo, "Raised conditional level of significance for the 2x2-table when testing the equality of two
probabilities", Statistica Neerlandica 24 (1970): the one-sided p of Fisher's test orders the tables, and the p-value
is the largest probability, over the pass rate that both sides have in common, of the tables that are at most as
likely by it as the observed one. Two-sided: twice the smaller side, at most 1.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, chain
from math import comb, fsum, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DIGITS = 9
"""Digits of a p-value that count."""
MOST = 200
"""Trials a side up to which the test is computed."""
GRID = 100
"""Pass rates at which the probability of the tables is computed before the largest is refined."""
PEAKS = 3
"""Peaks of the grid that are refined: the probability may have several."""
STEPS = 24
"""Steps of the golden-section search, which shorten an interval of 0.02 to below 1e-6."""
GOLDEN = (sqrt(5) - 1) / 2


@lru_cache(maxsize=4096)
def boschloo_exact(a_passed: int, a_total: int, b_passed: int, b_total: int) -> float:
    """Chance of passes at least as far apart as here, if both sides pass equally often; 1 if all or none passed.

    At most MOST trials a side.
    """
    if a_passed + b_passed in (0, a_total + b_total):
        return 1.0
    lower = _one_sided(_Table(a_passed, b_passed), a_total, b_total)
    upper = _one_sided(_Table(a_total - a_passed, b_total - b_passed), a_total, b_total)
    return round(min(1.0, 2 * min(lower, upper)), DIGITS)


class RejectedTables(NamedTuple):
    """The tables that a test rejects, for each number of passes on side a.

    With `a` of them on side a these are `least[a]` or more passes on side b, and `most[a]` or fewer; where no such
    table is rejected, `least[a]` is above the number of trials, and `most[a]` below 0.
    """

    least: Sequence[int]
    most: Sequence[int]
    b_total: int

    def probability(self, rate: float) -> float:
        """The probability of a rejected table, if both sides pass at this rate."""
        below = [0.0, *accumulate(binomial(self.b_total, rate))]
        rows = zip(binomial(len(self.least) - 1, rate), self.least, self.most, strict=True)
        return fsum(
            row * (below[most + 1] + below[self.b_total + 1] - below[max(least, most + 1)]) for row, least, most in rows
        )


@lru_cache(maxsize=512)
def rejected_tables(a_total: int, b_total: int, alpha: float) -> RejectedTables:
    """The tables with a two-sided p of at most alpha; at most MOST trials a side."""
    least = _critical_rows(a_total, b_total, alpha)
    return RejectedTables(least, [b_total - row for row in reversed(least)], b_total)


class _Table(NamedTuple):
    """How many trials passed on each side."""

    a: int
    b: int


class _Order(NamedTuple):
    """The tables of two sides by the one-sided p of Fisher's test that side b passes more often.

    `ways[m][a]` counts the draws with m passes in all of which at most `a` are on side a; of `all_ways[m]`.
    """

    ways: Sequence[Sequence[int]]
    all_ways: Sequence[int]

    def rows_up_to(self, table: _Table, a_total: int, b_total: int) -> list[int]:
        """For each number of passes on side a the fewest on side b with a p of at most that of `table`."""
        passed = table.a + table.b
        ways, all_ways = self.ways[passed][table.a], self.all_ways[passed]
        rows, b = [], 0
        for a in range(a_total + 1):  # the more pass on side a, the more it takes on side b
            while b <= b_total and self.ways[a + b][a] * all_ways > ways * self.all_ways[a + b]:
                b += 1
            rows.append(b)
        return rows


@lru_cache(maxsize=64)
def _order(a_total: int, b_total: int) -> _Order:
    everything = range(a_total + b_total + 1)
    of_a, of_b = ([comb(total, k) for k in range(total + 1)] for total in (a_total, b_total))
    ways = [
        list(accumulate(of_a[a] * (of_b[m - a] if 0 <= m - a <= b_total else 0) for a in range(a_total + 1)))
        for m in everything
    ]
    return _Order(ways, [comb(a_total + b_total, m) for m in everything])


def _one_sided(table: _Table, a_total: int, b_total: int) -> float:
    """The p-value of the alternative that side b passes more often."""
    return _largest_probability(_order(a_total, b_total).rows_up_to(table, a_total, b_total), b_total)


def _critical_rows(a_total: int, b_total: int, alpha: float) -> Sequence[int]:
    """The tables whose one-sided p, doubled, is at most alpha; found by bisection, as p grows with Fisher's."""
    order = _order(a_total, b_total)
    tables = (_Table(a, b) for a in range(a_total + 1) for b in range(b_total + 1))
    nested = sorted({tuple(order.rows_up_to(table, a_total, b_total)) for table in tables}, key=sum, reverse=True)
    nothing = [b_total + 1] * (a_total + 1)
    reached = bisect_right(nested, alpha, key=lambda rows: round(2 * _largest_probability(rows, b_total), DIGITS))
    return nested[reached - 1] if reached else nothing


def _largest_probability(rows: Sequence[int], b_total: int) -> float:
    """The largest probability, over the common pass rate, of the tables with at least `rows[a]` passes on side b."""

    def probability(rate: float) -> float:
        above = [*accumulate(reversed(binomial(b_total, rate)), initial=0.0)]
        return fsum(row * above[b_total + 1 - b] for row, b in zip(binomial(len(rows) - 1, rate), rows, strict=True))

    grid = [probability(place / GRID) for place in range(GRID + 1)]
    peaks = sorted(range(1, GRID), key=lambda place: (-grid[place], place))[:PEAKS]
    return max(chain(grid, (_refine(probability, (place - 1) / GRID, (place + 1) / GRID) for place in peaks)))


def _refine(function: Callable[[float], float], low: float, high: float) -> float:
    """The largest value that a golden-section search finds between two rates."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(STEPS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
    return max(at_left, at_right)


def binomial(total: int, rate: float) -> list[float]:
    """The probability of each number of passes in `total` trials."""
    return [comb(total, k) * rate**k * (1 - rate) ** (total - k) for k in range(total + 1)]
