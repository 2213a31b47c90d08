"""Sums up scenarios: how often they pass, how they score, what they cost and how long they take."""

from __future__ import annotations

from array import array
from collections import Counter
from math import fsum
from typing import TYPE_CHECKING

from evalgate.measures.numeric.intervals import mean_interval, paired_rates_interval, wilson
from evalgate.measures.numeric.means import DIGITS, mean_score
from evalgate.measures.numeric.passk import pass_at_k, pass_hat_k
from evalgate.measures.numeric.percentile import rank_in, ranks_among
from evalgate.models.run.run_statistics import PassAtK, Statistics, StatisticsDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.models.comparison.comparison import ScenarioOutcome

KS = (1, 2, 3, 4, 5, 8, 10, 16, 32, 64)
"""Values of k for which pass@k and pass^k are computed, as far as every scenario has so many trials."""
MOVING = (
    *("pass_rate", "score", "score_min", "score_p50", "score_p95"),
    *("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s"),
)


def figures_of(standings: Iterable[ScenarioOutcome]) -> Statistics:
    """The statistics of some scenarios; each is read once and not kept."""
    sums = _Sums()
    for found in standings:
        sums.add(found)
    scores, count = sorted(sums.scores), len(sums.scores)
    latency_p50, latency_p95 = ranks_among(sums.latencies, (50, 95))
    cost = round(fsum(sums.costs), DIGITS) if sums.trials and sums.trials == len(sums.costs) else None
    tokens = sums.tokens if sums.trials and sums.trials == sums.metered else None
    return Statistics(
        scenarios=count,
        trials=sums.trials,
        pass_rate=round(sums.passed / count, DIGITS) if count else None,
        pass_rate_interval=wilson(sums.passed, count),
        pass_k=_pass_k(sums.recorded),
        score=mean_score(scores),
        score_min=min(scores, default=None),
        score_p50=rank_in(scores, 50),
        score_p95=rank_in(scores, 95),
        cost_usd=cost,
        cost_mean_usd=None if cost is None else round(cost / sums.trials, DIGITS),
        total_tokens=tokens,
        tokens_mean=None if tokens is None else round(tokens / sums.trials, DIGITS),
        latency_p50_s=latency_p50,
        latency_p95_s=latency_p95,
    )


class _Sums:
    """Running sums behind the statistics: eight bytes a trial for each amount."""

    def __init__(self) -> None:
        self.passed = self.trials = self.metered = self.tokens = 0
        self.scores, self.costs, self.latencies = array("d"), array("d"), array("d")
        self.recorded: Counter[tuple[int, int]] = Counter()

    def add(self, found: ScenarioOutcome) -> None:
        """Adds one scenario."""
        trials = len(found.passed)
        self.passed += found.verdict == "PASS"
        self.trials += trials
        self.recorded[trials, found.passed.count(True)] += 1
        self.scores.append(found.score or 0.0)
        self.costs.extend(cost for cost in found.costs if cost is not None)
        self.latencies.extend(seconds for seconds in found.latencies if seconds is not None)
        for number in found.tokens:
            if number is not None:
                self.metered += 1
                self.tokens += number


def moves_of(
    before: Sequence[ScenarioOutcome], now: Sequence[ScenarioOutcome], figures: Statistics | None = None
) -> StatisticsDelta | None:
    """How the statistics moved; both lists hold the same scenarios in the same order. None for none.

    `statistics` are those of `current`, if they are known already.
    """
    if not now:
        return None
    old, new = figures_of(before), figures or figures_of(now)
    flips = [(was.verdict == "PASS", found.verdict == "PASS") for was, found in zip(before, now, strict=True)]
    kept, lost, won = flips.count((True, True)), flips.count((True, False)), flips.count((False, True))
    scores = [(found.score or 0.0) - (was.score or 0.0) for was, found in zip(before, now, strict=True)]
    return StatisticsDelta(
        scenarios=len(now),
        moved={name: _difference(getattr(old, name), getattr(new, name)) for name in MOVING},
        pass_rate_interval=paired_rates_interval(kept, lost, won, len(now)),
        score_interval=mean_interval(scores),
        pass_k=[
            PassAtK(
                there.k,
                round(here.at_least_one - there.at_least_one, DIGITS),
                round(here.every_one - there.every_one, DIGITS),
            )
            for there, here in zip(old.pass_k, new.pass_k, strict=False)
        ],
    )


def _pass_k(recorded: Counter[tuple[int, int]]) -> list[PassAtK]:
    """One entry for each k up to the fewest trials of any scenario; one without trials never passed."""
    fewest = min((trials for trials, _ in recorded if trials), default=0)
    return [
        PassAtK(k, _mean_of(pass_at_k, recorded, k), _mean_of(pass_hat_k, recorded, k))
        for k in KS
        if k <= fewest
    ]


def _mean_of(
    estimate: Callable[[int, int, int], float | None], recorded: Counter[tuple[int, int]], k: int
) -> float:
    found = fsum((estimate(*each, k) or 0.0) * often for each, often in recorded.items())
    return round(found / recorded.total(), DIGITS)


def _difference(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else round(now - before, DIGITS)
