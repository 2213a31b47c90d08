"""Cost, tokens and latency of two arms: the ratio of their totals over the scenarios that both record."""

from __future__ import annotations

from hashlib import sha256
from math import fsum
from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import mean_amount
from evalgate.measures.numeric.ratios import FEWEST, ratio_interval
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
