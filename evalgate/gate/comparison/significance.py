"""Small tests that separate change from noise: two-sided, whatever the order of trials and of sides."""

from __future__ import annotations

from functools import lru_cache
from math import comb, erfc, exp, fsum, lgamma, log, sqrt
from typing import TYPE_CHECKING

from evalgate.measures.numeric.boschloo import MOST, boschloo_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

DIGITS = 9
"""Digits of a p-value that count."""
EXACT_STEPS = 50_000
"""Steps that counting every split may take; beyond that, splits are sampled."""
DRAWS = 999
LARGE_SIDE = 20
"""Values on the smaller side from which the normal distribution replaces sampling."""
NEGLIGIBLE = 1e-30


@lru_cache(maxsize=4096)
def fisher_exact(a_passed: int, a_total: int, b_passed: int, b_total: int) -> float:
    """Chance of a split of passes at least as unlikely as here, if both sides pass equally often.

    R. A. Fisher, "Statistical methods for research workers", 5th edition (1934); two-sided as the sum over
    all tables with the same margins that are not likelier than the observed one.
    """
    weights = likelihoods(a_passed + b_passed, a_total, b_total)
    observed = weights.get(a_passed, 0.0) * (1 + 1e-9)
    unlikely = fsum(weight for weight in weights.values() if weight <= observed)
    return round(unlikely / fsum(weights.values()), DIGITS)


def likelihoods(passed: int, a_total: int, b_total: int) -> dict[int, float]:
    """Likelihood of each number of passes on side a, relative to the likeliest.

    Goes outwards from the likeliest until the weights are negligible, at the latest where a table is
    impossible and its weight 0: a million trials cost thousands of steps, and no number overflows.
    """
    failed_b = b_total - passed
    start = (passed + 1) * (a_total + 1) // (a_total + b_total + 2)
    weights = {start: 1.0}
    weight, x = 1.0, start
    while weight > NEGLIGIBLE:
        weight *= (passed - x) * (a_total - x) / ((x + 1) * (failed_b + x + 1))
        x += 1
        weights[x] = weight
    weight, x = 1.0, start
    while weight > NEGLIGIBLE:
        weight *= x * (failed_b + x) / ((passed - x + 1) * (a_total - x + 1))
        x -= 1
        weights[x] = weight
    return weights


def permutation_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Chance of means at least as far apart as here, if values were assigned to sides by chance.

    E. J. G. Pitman, "Significance tests which may be applied to samples from any populations" (1937). Counts
    every split if that is cheap; else draws splits from a fixed seed, with the estimate of B. Phipson and
    G. K. Smyth, "Permutation p-values should never be zero" (2010); with many values on both sides it uses
    the normal distribution.
    """
    smaller_side = [round(value * 10**DIGITS) for value in min(a, b, key=len)]
    pool = sorted(round(value * 10**DIGITS) for side in (a, b) for value in side)
    size, total = len(smaller_side), sum(pool)
    distance = abs(len(pool) * sum(smaller_side) - size * total)
    if distance == 0:
        return 1.0
    sums = _subset_sums(pool, size)
    if sums is not None:
        extreme = sum(ways for drawn, ways in sums.items() if abs(len(pool) * drawn - size * total) >= distance)
        return round(extreme / comb(len(pool), size), DIGITS)
    if size >= LARGE_SIDE:
        return round(_normal_p(pool, size, distance), DIGITS)
    return round(_sampled_p(pool, size, distance), DIGITS)


def _subset_sums(pool: Sequence[int], size: int) -> dict[int, int] | None:
    """How many ways each sum of `size` values can be drawn; None if counting would cost too much."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(size))]
    steps = 0
    for value in pool:
        for taken in range(size - 1, -1, -1):
            more = ways[taken + 1]
            for drawn, count in ways[taken].items():
                more[drawn + value] = more.get(drawn + value, 0) + count
            steps += len(ways[taken])
            if steps > EXACT_STEPS:
                return None
    return ways[size]


def _normal_p(pool: Sequence[int], size: int, distance: int) -> float:
    """The p-value by the normal distribution, with the exact variance of a sum drawn without replacement."""
    count, total = len(pool), sum(pool)
    spread = fsum((value - total / count) ** 2 for value in pool) / count
    variance = spread * size * (count - size) / (count - 1)
    return erfc(distance / count / sqrt(2 * variance))


def _sampled_p(pool: Sequence[int], size: int, distance: int) -> float:
    """Estimates the p-value by a fixed number of draws, the same in every run."""
    from random import Random

    chance = Random(DRAWS).random  # noqa: S311  a fixed seed is what is wanted here
    values, count, total, hits = list(pool), len(pool), sum(pool), 0
    for _ in range(DRAWS):
        for index in range(size):
            other = index + int(chance() * (count - index))
            values[index], values[other] = values[other], values[index]
        hits += abs(count * sum(values[:size]) - size * total) >= distance
    return (hits + 1) / (DRAWS + 1)


def flip_p(a_passed: int, a_total: int, b_passed: int, b_total: int) -> float:
    """The p-value of two pass rates."""
    test = boschloo_exact if choose_flip_test(a_total, b_total) == "Boschloo" else fisher_exact
    return test(a_passed, a_total, b_passed, b_total)


def choose_flip_test(a_total: int, b_total: int) -> str:
    """The test of two pass rates: Boschloo's, and Fisher's for more trials than that is computed for."""
    return "Boschloo" if max(a_total, b_total) <= MOST else "Fisher"


def trials_for_reversal(alpha: float) -> int:
    """The smallest number of trials a side with which all against none reaches `alpha`."""
    trials = 2
    while flip_p(trials, trials, 0, trials) > alpha:
        trials += 1
    return trials


def trials_for_scores(alpha: float) -> int:
    """The smallest number of trials a side with which any difference of scores could reach `alpha`."""
    trials = 2
    while 2 / comb(2 * trials, trials) > alpha:
        trials += 1
    return trials


EXACT_PAIRS = 1_000
"""Changed pairs up to which their test is computed with whole numbers."""


def mcnemar(one_way: int, other_way: int) -> float:
    """The exact p-value of changed pairs, to the digits that count."""
    return round(sign_p(one_way, other_way), DIGITS)


@lru_cache(maxsize=4096)
def sign_p(one_way: int, other_way: int) -> float:
    """Chance that changed pairs are at least as one-sided as here, if either way were equally likely.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages"
    (1947), in its exact form, the sign test: pairs that passed, or failed, on both sides do not count.
    """
    changed, fewer = one_way + other_way, min(one_way, other_way)
    if 2 * fewer >= changed - 1:
        return 1.0
    if changed <= EXACT_PAIRS:
        return 2 * sum(comb(changed, x) for x in range(fewer + 1)) / (1 << changed)
    weight = total = 1.0
    for x in range(fewer, 0, -1):
        weight *= x / (changed - x + 1)
        total += weight
        if weight < NEGLIGIBLE:
            break
    likeliest = exp(lgamma(changed + 1) - lgamma(fewer + 1) - lgamma(changed - fewer + 1) - changed * log(2))
    return min(1.0, 2 * likeliest * total)


def paired_permutation_p(differences: Sequence[float]) -> float:
    """Chance of a mean difference at least as far from 0, if both signs of each were equally likely.

    R. A. Fisher, "The design of experiments" (1935), chapter 3. Counts every choice of signs if that is
    cheap; else draws choices from a fixed seed, or uses the normal distribution if there are many.
    """
    moves = sorted(scaled for each in differences if (scaled := abs(round(each * 10**DIGITS))))
    distance = abs(sum(round(each * 10**DIGITS) for each in differences))
    if distance == 0:
        return 1.0
    sums = _signed_sums(moves)
    if sums is not None:
        extreme = sum(ways for total, ways in sums.items() if abs(total) >= distance)
        return round(extreme / (1 << len(moves)), DIGITS)
    if len(moves) >= LARGE_SIDE:
        return round(erfc(distance / sqrt(2 * fsum(float(move) ** 2 for move in moves))), DIGITS)
    return round(_sampled_paired_p(moves, distance), DIGITS)


def _signed_sums(moves: Sequence[int]) -> dict[int, int] | None:
    """How many choices of signs give each sum; None if counting would cost too much."""
    ways, steps = {0: 1}, 0
    for move in moves:
        more: dict[int, int] = {}
        for total, count in ways.items():
            more[total + move] = more.get(total + move, 0) + count
            more[total - move] = more.get(total - move, 0) + count
        ways, steps = more, steps + len(more)
        if steps > EXACT_STEPS:
            return None
    return ways


def _sampled_paired_p(moves: Sequence[int], distance: int) -> float:
    """Estimates the p-value by a fixed number of draws, the same in every run."""
    from random import Random

    chance = Random(DRAWS).random  # noqa: S311  a fixed seed is what is wanted here
    hits = sum(
        abs(sum(move if chance() < 0.5 else -move for move in moves)) >= distance  # noqa: PLR2004  a coin
        for _ in range(DRAWS)
    )
    return (hits + 1) / (DRAWS + 1)


def pairs_for_scores(alpha: float) -> int:
    """The smallest number of pairs with which any difference of scores could reach `alpha`."""
    pairs = 2
    while 2 * 0.5**pairs > alpha:
        pairs += 1
    return pairs
