"""Two small tests for paired trials: two-sided, independent of the order of trials and of sides."""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, fsum, lgamma, log, sqrt
from typing import TYPE_CHECKING

from evalgate.gate.comparison.significance import (
    DIGITS,
    DRAWS,
    EXACT_STEPS,
    LARGE_SIDE,
    MOST_TRIALS,
    NEGLIGIBLE,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@lru_cache(maxsize=4096)
def mcnemar(one_way: int, other_way: int) -> float:
    """Chance that changed pairs are at least as one-sided as here, if either way were equally likely.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages"
    (1947), in its exact form: pairs that passed, or failed, on both sides do not count.
    """
    changed, fewer = one_way + other_way, min(one_way, other_way)
    if 2 * fewer >= changed - 1:
        return 1.0
    weight = total = 1.0
    for x in range(fewer, 0, -1):
        weight *= x / (changed - x + 1)
        total += weight
        if weight < NEGLIGIBLE:
            break
    likeliest = exp(lgamma(changed + 1) - lgamma(fewer + 1) - lgamma(changed - fewer + 1) - changed * log(2))
    return round(min(1.0, 2 * likeliest * total), DIGITS)


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
    return round(_sampled_p(moves, distance), DIGITS)


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


def _sampled_p(moves: Sequence[int], distance: int) -> float:
    """Estimates the p-value by a fixed number of draws, the same in every run."""
    from random import Random

    chance = Random(DRAWS).random  # noqa: S311  a fixed seed is what is wanted here
    hits = sum(
        abs(sum(move if chance() < 0.5 else -move for move in moves)) >= distance  # noqa: PLR2004  a coin
        for _ in range(DRAWS)
    )
    return (hits + 1) / (DRAWS + 1)


@lru_cache(maxsize=4096)
def pairs_for_flip(one_way: int, other_way: int, pairs: int, alpha: float) -> int | None:
    """The smallest number of pairs that would decide, if they went on changing so; None if over 64."""
    few, many = sorted((one_way, other_way))
    for count in range(pairs + 1, MOST_TRIALS + 1):
        if mcnemar(-(-few * count // pairs), many * count // pairs) <= alpha:
            return count
    return None


def pairs_for_scores(alpha: float) -> int:
    """The smallest number of pairs with which any difference of scores could reach `alpha`."""
    pairs = 2
    while 2 * 0.5**pairs > alpha:
        pairs += 1
    return pairs
