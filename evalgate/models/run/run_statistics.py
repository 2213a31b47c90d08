"""Statistics of a suite or a whole run, and their change since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Interval = tuple[float, float]


class PassAtK(NamedTuple):
    """Probability that at least one, or every one, of k trials passes: mean over the scenarios."""

    k: int
    at_least_one: float
    every_one: float


class CostlyAssertion(NamedTuple):
    """An assertion and the trials of a suite in which it did not pass.

    `weight_lost` is the sum of its weight times the missing part of its score.
    """

    suite: str
    name: str
    type: str
    required: bool
    failed: int
    scenarios: int
    weight_lost: float


class Statistics(Struct, frozen=True):
    """Sums and means over the trials, scores over the scenarios; an amount with an unknown part is None.

    A scenario that could not be scored counts as 0. Latencies are over trials with a known latency. `not_measured`
    counts trials that an outage left unmeasured: the totals include their known cost and tokens, and nothing else.
    """

    scenarios: int
    trials: int
    pass_rate: float | None
    pass_rate_interval: Interval | None
    pass_k: Sequence[PassAtK]
    score: float | None
    score_min: float | None
    score_p50: float | None
    score_p95: float | None
    cost_usd: float | None
    cost_mean_usd: float | None
    total_tokens: int | None
    tokens_mean: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    not_measured: int = 0


class StatisticsDelta(Struct, frozen=True):
    """Change of the statistics over the scenarios that both sides measured: this run minus baseline.

    None is unknown. The intervals are 95% confidence intervals of the change of pass rate and mean score, if
    these scenarios are a representative sample.
    """

    scenarios: int
    deltas: Mapping[str, float | None]
    pass_rate_interval: Interval | None
    score_interval: Interval | None
    pass_k: Sequence[PassAtK]


class SuiteStatistics(Struct, frozen=True):
    """Statistics, their change (None if nothing was compared), and the assertions that cost most score."""

    statistics: Statistics
    delta: StatisticsDelta | None = None
    lost_checks: Sequence[CostlyAssertion] = ()


class RunStatistics(Struct, frozen=True):
    """The statistics of the whole run and of each suite by name."""

    run: SuiteStatistics
    suites: Mapping[str, SuiteStatistics] = field(default_factory=dict)
