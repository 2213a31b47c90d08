"""Scenarios added up: how often they pass, how they score, what they cost and how long they take."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING

from evalgate.measures.intervals import mean_interval, paired_rates_interval, wilson
from evalgate.measures.means import DIGITS, mean_score
from evalgate.measures.passk import pass_at_k, pass_hat_k
from evalgate.measures.percentile import nearest_rank
from evalgate.models.figures import Figures, Moves, PassK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.models.comparison import Standing

KS = (1, 2, 3, 4, 5, 8, 10, 16, 32, 64)
"""Numbers of tries for which pass@k and pass^k are told, as far as every scenario has so many trials."""
MOVING = (
    *("pass_rate", "score", "score_min", "score_p50", "score_p95"),
    *("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s"),
)


def figures_of(standings: Sequence[Standing]) -> Figures:
    """The figures of some scenarios."""
    passed, count = sum(found.verdict == "PASS" for found in standings), len(standings)
    scores = [found.score or 0.0 for found in standings]
    costs = [cost for found in standings for cost in found.costs]
    tokens = [number for found in standings for number in found.tokens]
    latencies = [seconds for found in standings for seconds in found.latencies]
    cost, total_tokens = _total(costs), _total(tokens)
    return Figures(
        scenarios=count,
        trials=sum(len(found.passed) for found in standings),
        pass_rate=round(passed / count, DIGITS) if count else None,
        pass_rate_interval=wilson(passed, count),
        pass_k=_pass_k(standings),
        score=mean_score(scores),
        score_min=min(scores, default=None),
        score_p50=nearest_rank(scores, 50),
        score_p95=nearest_rank(scores, 95),
        cost_usd=cost,
        cost_mean_usd=None if cost is None else round(cost / len(costs), DIGITS),
        total_tokens=None if total_tokens is None else int(total_tokens),
        tokens_mean=None if total_tokens is None else round(total_tokens / len(tokens), DIGITS),
        latency_p50_s=nearest_rank(latencies, 50),
        latency_p95_s=nearest_rank(latencies, 95),
    )


def moves_of(before: Sequence[Standing], now: Sequence[Standing]) -> Moves | None:
    """How the figures moved; both lists hold the same scenarios in the same order. None of none."""
    if not now:
        return None
    old, new = figures_of(before), figures_of(now)
    flips = [(was.verdict == "PASS", found.verdict == "PASS") for was, found in zip(before, now, strict=True)]
    kept, lost, won = flips.count((True, True)), flips.count((True, False)), flips.count((False, True))
    scores = [(found.score or 0.0) - (was.score or 0.0) for was, found in zip(before, now, strict=True)]
    return Moves(
        scenarios=len(now),
        moved={name: _difference(getattr(old, name), getattr(new, name)) for name in MOVING},
        pass_rate_interval=paired_rates_interval(kept, lost, won, len(now)),
        score_interval=mean_interval(scores),
        pass_k=[
            PassK(
                there.k,
                round(here.at_least_one - there.at_least_one, DIGITS),
                round(here.every_one - there.every_one, DIGITS),
            )
            for there, here in zip(old.pass_k, new.pass_k, strict=False)
        ],
    )


def _pass_k(standings: Sequence[Standing]) -> list[PassK]:
    """For each k up to the trials of the scenario that has fewest; one without any never passed."""
    recorded = Counter((len(found.passed), found.passed.count(True)) for found in standings)
    fewest = min((trials for trials, _ in recorded if trials), default=0)
    return [
        PassK(k, _mean_of(pass_at_k, recorded, k), _mean_of(pass_hat_k, recorded, k))
        for k in KS
        if k <= fewest
    ]


def _mean_of(
    estimate: Callable[[int, int, int], float | None], recorded: Counter[tuple[int, int]], k: int
) -> float:
    found = fsum((estimate(*each, k) or 0.0) * often for each, often in recorded.items())
    return round(found / recorded.total(), DIGITS)


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(fsum(known), DIGITS) if known and len(known) == len(amounts) else None


def _difference(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else round(now - before, DIGITS)
