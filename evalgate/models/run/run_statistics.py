"""A suite, or a whole run, in figures; and how they moved since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Interval = tuple[float, float]


class PassAtK(NamedTuple):
    """Chance that at least one, and that every one, of k trials passes: mean over the scenarios."""

    k: int
    at_least_one: float
    every_one: float


class CostlyAssertion(NamedTuple):
    """A check over all trials of a suite in which it did not pass.

    `weight_lost` adds up weight times what was missing of its score.
    """

    suite: str
    name: str
    type: str
    required: bool
    failed: int
    scenarios: int
    weight_lost: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums and means over the trials, scores over the scenarios; an amount with an unknown part is None.

    A scenario that could not be scored counts as 0. Latencies are those of the trials that tell theirs.
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


@dataclass(frozen=True, slots=True)
class StatisticsDelta:
    """How the figures of the scenarios that both sides have moved: now minus before, None where unknown.

    The intervals hold the true move of pass rate and mean score in 95 of 100 cases, if these scenarios stand
    for all that could have been asked.
    """

    scenarios: int
    moved: Mapping[str, float | None]
    pass_rate_interval: Interval | None
    score_interval: Interval | None
    pass_k: Sequence[PassAtK]


@dataclass(frozen=True, slots=True)
class SuiteStatistics:
    """Figures with their moves, None where nothing was compared, and the checks that cost most."""

    figures: Statistics
    moves: StatisticsDelta | None = None
    lost_checks: Sequence[CostlyAssertion] = ()


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """The figures of the run as a whole and of each suite by name."""

    run: SuiteStatistics
    suites: Mapping[str, SuiteStatistics] = field(default_factory=dict)
