"""How often a gate is red by chance, where few trials leave the pass rates of scenarios uncertain."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import comb, exp, lgamma, log, prod
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    Table = tuple[tuple[bool, ...], ...]
    """Whether the gate is red, by the trials that passed in the baseline, then in the run."""

WORLDS = 2_000
"""Draws of the pass rates, for an interval."""
MEANS = (0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.92, 0.96, 0.98, 0.99, 0.997)
SPREADS = (0.3, 0.7, 1.5, 3.0, 6.0, 12.0, 25.0, 50.0, 100.0)
ALWAYS, NEVER = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9), (0.0, 0.1, 0.25)
"""A grid of distributions of pass rates: shares that always and never pass, and the mean and spread of a Beta
distribution of the others (the spread is the sum of its parameters)."""


class RateDistribution(NamedTuple):
    """A distribution of pass rates: shares of 1 and of 0, and the parameters of a Beta distribution of the rest."""

    always: float
    never: float
    a: float
    b: float

    def weigh(self, passed: int, trials: int) -> tuple[float, float, float]:
        """The likelihoods of trials at rate 1, at rate 0 and at others, up to a factor that all distributions share."""
        others = exp(_log_beta(self.a + passed, self.b + trials - passed) - _log_beta(self.a, self.b))
        return self.always * (passed == trials), self.never * (not passed), (1 - self.always - self.never) * others


GRID = [
    RateDistribution(always, never, mean * spread, (1 - mean) * spread)
    for always in ALWAYS
    for never in NEVER
    if always + never < 1
    for mean in MEANS
    for spread in SPREADS
]


class RecordedScenario(NamedTuple):
    """How many of a scenario's recorded trials passed, and its table."""

    passed: int
    trials: int
    table: Table


def chance_of_recorded(each: RecordedScenario) -> float:
    """The chance of red if both sides are disjoint samples of the recorded trials: exact, over all such samples."""
    size, failed = len(each.table) - 1, each.trials - each.passed
    ways = [
        (before, now, comb(each.passed, before) * comb(failed, size - before))
        for before in range(size + 1)
        for now in range(size + 1)
    ]
    total = comb(each.trials, size) * comb(each.trials - size, size)
    red = sum(
        first * _choose(each.passed - before, now) * _choose(failed - (size - before), size - now)
        for before, now, first in ways
        if first and each.table[before][now]
    )
    return red / total


def _choose(of: int, count: int) -> int:
    return comb(of, count) if 0 <= count <= of else 0


def chance_at(table: Table, before: float, now: float) -> float:
    """The chance of red if trials of the baseline pass at the rate `before` and those of the run at `now`."""
    size = len(table) - 1
    first, second = ([_binomial(count, size, rate) for count in range(size + 1)] for rate in (before, now))
    return sum(
        one * other
        for one, row in zip(first, table, strict=True)
        for other, red in zip(second, row, strict=True)
        if red
    )


def _binomial(count: int, size: int, rate: float) -> float:
    return comb(size, count) * rate**count * (1 - rate) ** (size - count)


def join_chances(chances: Sequence[float]) -> float:
    """The chance that any scenario is red, each independently of the others."""
    return 1 - prod(1 - each for each in chances)


def interval_of_rate(scenarios: Sequence[RecordedScenario], seed: bytes) -> tuple[float, float, float]:
    """The chance that any scenario is red, over the pass rates that the trials leave possible: 95 % interval, median.

    Lower end, median, upper end.

    Empirical Bayes over the scenarios, with an uncertain distribution of their rates (D. Lindley and A. Smith, "Bayes
    estimates for the linear model", 1972, here for rates): a scenario that always passed is not taken for one that
    always will. The same seed gives the same.
    """
    chance = Random(seed)  # noqa: S311  a fixed seed is what is wanted here
    found = []
    for rates in chance.choices(GRID, _weigh_grid(scenarios), k=WORLDS):
        weights: dict[tuple[int, int], tuple[float, float, float]] = {}
        calm = 1.0
        for each in scenarios:
            key = each.passed, each.trials
            always, never, other = weights.get(key) or weights.setdefault(key, rates.weigh(*key))
            rate = _draw(chance, always / (always + never + other), never / (always + never + other), rates, each)
            calm *= 1 - _chance_near(each.table, round(rate * STEPS))
        found.append(1 - calm)
    found.sort()
    return found[WORLDS // 40], found[WORLDS // 2], found[-1 - WORLDS // 40]


STEPS = 2_000
"""Pass rates are rounded to 1 in so many before their chance of red is looked up."""


@lru_cache(maxsize=32_768)
def _chance_near(table: Table, step: int) -> float:
    return chance_at(table, step / STEPS, step / STEPS)


def _draw(chance: Random, always: float, never: float, rates: RateDistribution, each: RecordedScenario) -> float:
    """A pass rate that the trials of a scenario leave possible."""
    place = chance.random()
    if place < always:
        return 1.0
    if place < always + never:
        return 0.0
    return min(max(chance.betavariate(rates.a + each.passed, rates.b + each.trials - each.passed), 0.0), 1.0)


def _weigh_grid(scenarios: Sequence[RecordedScenario]) -> list[float]:
    """The likelihood of each distribution of the grid, relative to the likeliest."""
    counts = Counter((each.passed, each.trials) for each in scenarios)
    logs = [sum(number * log(sum(rates.weigh(*key))) for key, number in counts.items()) for rates in GRID]
    best = max(logs)
    return [exp(each - best) for each in logs]


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
