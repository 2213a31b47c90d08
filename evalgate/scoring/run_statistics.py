"""Sums up scenarios and variants: how often they pass, how they score, what they cost, which checks cost most."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.measures.numeric.estimates import (
    mean_interval,
    paired_rates_interval,
    pass_at_k,
    pass_hat_k,
    rank_in_sorted,
    wilson_interval,
)
from evalgate.measures.numeric.means import DIGITS, mean_amount, mean_score
from evalgate.models.run.run import Share, VariantStatistics
from evalgate.models.run.run_statistics import CostlyAssertion, PassAtK, Statistics, StatisticsDelta
from evalgate.models.run.trials import list_measured, summarize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalgate.models.comparison.comparison import ScenarioOutcome
    from evalgate.models.run.run import ScenarioResult, Trial

KS = (1, 2, 3, 4, 5, 8, 10, 16, 32, 64)
"""Values of k for which pass@k and pass^k are computed, as far as every scenario has so many trials."""
DELTA_FIELDS = (
    *("pass_rate", "score", "score_min", "score_p50", "score_p95"),
    *("cost_usd", "cost_mean_usd", "total_tokens", "tokens_mean", "latency_p50_s", "latency_p95_s"),
)


def compute_statistics(outcomes: Iterable[ScenarioOutcome]) -> Statistics:
    """The statistics of some scenarios; each is read once and not kept."""
    sums = _RunningSums()
    for outcome in outcomes:
        sums.add(outcome)
    scores, count = sorted(sums.scores), len(sums.scores)
    latencies = sorted(sums.latencies)
    cost = round(fsum(sums.costs), DIGITS) if sums.trials and sums.trials == len(sums.costs) else None
    tokens = sums.tokens if sums.trials and sums.trials == sums.trials_with_tokens else None
    return Statistics(
        scenarios=count + sums.unmeasured,
        trials=sums.trials,
        pass_rate=round(sums.passed / count, DIGITS) if count else None,
        pass_rate_interval=wilson_interval(sums.passed, count),
        pass_k=_compute_pass_k(sums.pass_counts),
        score=mean_score(scores),
        score_min=min(scores, default=None),
        score_p50=rank_in_sorted(scores, 50),
        score_p95=rank_in_sorted(scores, 95),
        cost_usd=cost,
        cost_mean_usd=None if cost is None else round(cost / sums.trials, DIGITS),
        total_tokens=tokens,
        tokens_mean=None if tokens is None else round(tokens / sums.trials, DIGITS),
        latency_p50_s=rank_in_sorted(latencies, 50),
        latency_p95_s=rank_in_sorted(latencies, 95),
    )


class _RunningSums:
    """Running sums behind the statistics: eight bytes a trial for each amount."""

    def __init__(self) -> None:
        self.passed = self.trials = self.trials_with_tokens = self.tokens = self.unmeasured = 0
        self.scores, self.costs, self.latencies = array("d"), array("d"), array("d")
        self.pass_counts: Counter[tuple[int, int]] = Counter()

    def add(self, outcome: ScenarioOutcome) -> None:
        """Adds one scenario; one without a verdict because of an outage has no score and no pass rate."""
        trials = len(outcome.passed)
        self.trials += trials
        if outcome.is_unmeasured:
            self.unmeasured += 1
        else:
            self.passed += outcome.verdict == "PASS"
            self.pass_counts[trials, outcome.passed.count(True)] += 1
            self.scores.append(outcome.score or 0.0)
        self.costs.extend(cost for cost in outcome.costs if cost is not None)
        self.latencies.extend(seconds for seconds in outcome.latencies if seconds is not None)
        for number in outcome.tokens:
            if number is not None:
                self.trials_with_tokens += 1
                self.tokens += number


def compute_delta(
    baseline: Sequence[ScenarioOutcome], current: Sequence[ScenarioOutcome], statistics: Statistics | None = None
) -> StatisticsDelta | None:
    """How the statistics moved; both lists hold the same scenarios in the same order. None for none.

    `statistics` are those of `current`, if they are known already.
    """
    if not current:
        return None
    before, now = compute_statistics(baseline), statistics or compute_statistics(current)
    pairs = list(zip(baseline, current, strict=True))
    flips = Counter((old.verdict == "PASS", new.verdict == "PASS") for old, new in pairs)
    return StatisticsDelta(
        scenarios=len(current),
        deltas={name: _difference(getattr(before, name), getattr(now, name)) for name in DELTA_FIELDS},
        pass_rate_interval=paired_rates_interval(
            flips[True, True], flips[True, False], flips[False, True], len(current)
        ),
        score_interval=mean_interval([(new.score or 0.0) - (old.score or 0.0) for old, new in pairs]),
        pass_k=[
            PassAtK(
                old.k,
                round(new.at_least_one - old.at_least_one, DIGITS),
                round(new.every_one - old.every_one, DIGITS),
            )
            for old, new in zip(before.pass_k, now.pass_k, strict=False)
        ],
    )


def _compute_pass_k(pass_counts: Counter[tuple[int, int]]) -> list[PassAtK]:
    """One entry for each k up to the fewest trials of any scenario; one without trials never passed."""
    fewest = min((trials for trials, _ in pass_counts if trials), default=0)
    return [
        PassAtK(k, _mean_estimate(pass_at_k, pass_counts, k), _mean_estimate(pass_hat_k, pass_counts, k))
        for k in KS
        if k <= fewest
    ]


def _mean_estimate(
    estimate: Callable[[int, int, int], float | None], pass_counts: Counter[tuple[int, int]], k: int
) -> float:
    total = fsum((estimate(*each, k) or 0.0) * repetitions for each, repetitions in pass_counts.items())
    return round(total / pass_counts.total(), DIGITS)


def _difference(baseline: float | None, current: float | None) -> float | None:
    return None if baseline is None or current is None else round(current - baseline, DIGITS)


MOST_LISTED = 10
"""Assertions that are listed for a suite and for a run."""


class _Tally(Struct):
    weights: Counter[float]
    scenarios: set[int]
    is_required: bool = False


def find_costliest_assertions(suite: str, scenarios: Iterable[ScenarioResult]) -> list[CostlyAssertion]:
    """Assertions of a suite that did not pass somewhere, grouped by name and type, costliest first."""
    found: dict[tuple[str, str], _Tally] = {}
    for index, scenario in enumerate(scenarios):
        for each in chain.from_iterable(summarize(trial).failed for trial in scenario.trials):
            tally = found.setdefault((each.name, each.type), _Tally(Counter(), set()))
            tally.weights[each.weight] += 1
            tally.scenarios.add(index)
            tally.is_required |= bool(each.required)
    return sort_by_cost(
        CostlyAssertion(
            *(suite, name, kind, tally.is_required, tally.weights.total(), len(tally.scenarios)),
            round(fsum(tally.weights.elements()), DIGITS),
        )
        for (name, kind), tally in found.items()
    )


def sort_by_cost(checks: Iterable[CostlyAssertion]) -> list[CostlyAssertion]:
    """The costliest assertions: by weight lost, then by how often they failed, then by name."""
    return sorted(checks, key=_cost_sort_key)[:MOST_LISTED]


def _cost_sort_key(check: CostlyAssertion) -> tuple[float, int, str, str, str]:
    return (-check.weight_lost, -check.failed, check.suite, check.name, check.type)


EXPECTED_TOOL, EXPECTED_SKILL = "expected_tool", "expected_skill"
JUDGED = frozenset({"passed", "failed"})


def compare_variants(scenarios: Iterable[ScenarioResult]) -> list[VariantStatistics]:
    """One row for each variant, in the order in which the scenarios have them; none without variants."""
    by_name: dict[str, list[ScenarioResult]] = {}
    for scenario in scenarios:
        if scenario.variant is not None:
            by_name.setdefault(scenario.variant, []).append(scenario)
    return [_summarise_variant(name, found) for name, found in by_name.items()]


def _summarise_variant(name: str, scenarios: Sequence[ScenarioResult]) -> VariantStatistics:
    every = [list_measured(scenario.trials) for scenario in scenarios]
    judged_calls = [found for trial in chain.from_iterable(every) if (found := judge_calls(trial)) is not None]

    def mean(name: str) -> float | None:
        return _mean([getattr(trial, name) for trials in every for trial in trials])

    return VariantStatistics(
        name=name,
        scenarios=len(scenarios),
        passed=sum(scenario.verdict == "PASS" for scenario in scenarios),
        trials=sum(map(len, every)),
        correct_tool=Share(sum(tool for tool, _ in judged_calls), len(judged_calls)),
        correct_count=Share(sum(count for _, count in judged_calls), len(judged_calls)),
        input_tokens=mean("input_tokens"),
        output_tokens=mean("output_tokens"),
        total_tokens=mean("total_tokens"),
        cost_usd=mean("cost_usd"),
        latency_seconds=mean("latency_seconds"),
    )


def _mean(amounts: Sequence[float | None]) -> float | None:
    mean = mean_amount(amounts)
    return None if mean is None else round(mean, DIGITS)


def judge_calls(trial: Trial) -> tuple[bool, bool] | None:
    """Whether a trial called the right tool, and often enough; None if no check of that was evaluated."""
    return judge_call_checks([(each.outcome, each.evidence) for each in trial.assertions if each.type == EXPECTED_TOOL])


def judge_call_checks(found: Sequence[tuple[str, Mapping[str, Any] | None]]) -> tuple[bool, bool] | None:
    """The same by the outcome and the evidence of each check of `expected_tool`."""
    if not found or any(outcome not in JUDGED for outcome, _ in found):
        return None
    return all(_is_right_tool(*each) for each in found), all(outcome == "passed" for outcome, _ in found)


def _is_right_tool(outcome: str, evidence: Mapping[str, Any] | None) -> bool:
    """Whether the right tool was called; a failed check may only have found fewer calls than expected."""
    if outcome == "passed":
        return True
    evidence = evidence or {}
    calls, expected = evidence.get("calls"), evidence.get("expected_calls")
    return isinstance(calls, int) and isinstance(expected, int) and 0 < calls < expected
