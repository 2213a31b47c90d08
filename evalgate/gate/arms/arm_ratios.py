"""Cost, tokens and latency of two arms: the ratio of their totals over the scenarios that both record."""

from __future__ import annotations

from hashlib import sha256
from math import fsum, sqrt
from random import Random
from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import mean_amount
from evalgate.models.run.arms import AmountRatio

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.comparison import ScenarioOutcome

    Pair = tuple[ScenarioOutcome, ScenarioOutcome]

AMOUNTS = {"cost": "costs", "tokens": "tokens", "latency": "latencies"}
DIGITS = 6
"""Decimal places of a ratio that a document shows."""


def compare_amounts(pairs: Sequence[Pair]) -> list[AmountRatio]:
    """The ratio of each amount, treatment to control; left out where too few scenarios record it in both arms.

    A scenario counts by its mean, so that arms may have different numbers of trials. The draws depend on the digests of
    the recordings, not on the order of the scenarios.
    """
    ordered = sorted(pairs, key=lambda pair: (pair[0].key.suite, pair[0].key.id, pair[0].key.variant or ""))
    seed = _seed(ordered)
    return [ratio for name in AMOUNTS if (ratio := _compare_amount(name, ordered, seed)) is not None]


def _compare_amount(name: str, pairs: Sequence[Pair], seed: bytes) -> AmountRatio | None:
    means = [
        tuple(mean_amount([*map(_as_float, getattr(side, AMOUNTS[name]))]) for side in (control, treatment))
        for control, treatment in pairs
    ]
    known = [(one, other) for one, other in means if one is not None and other is not None]
    total, other_total = (fsum(side) for side in zip(*known, strict=True)) if known else (0.0, 0.0)
    if len(known) < FEWEST or total <= 0:
        return None
    ratio, each = other_total / total, [round(amount / len(known), DIGITS) for amount in (total, other_total)]
    low, high = ratio_interval(known, seed + name.encode())
    return AmountRatio(name, round(ratio, DIGITS), round(low, DIGITS), round(high, DIGITS), len(known), *each)


def _as_float(amount: float | None) -> float | None:
    return None if amount is None else float(amount)


def _seed(pairs: Sequence[Pair]) -> bytes:
    """A seed of the recordings: of their digests, or of the name of a scenario that has none."""
    texts: Iterator[str] = (
        ",".join([outcome.key.id, *map(str, sorted(digest or 0 for digest in outcome.digests))])
        for pair in pairs
        for outcome in pair
    )
    return sha256("\n".join(texts).encode("utf-8", "replace")).digest()


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
