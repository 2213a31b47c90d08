"""Builds the summary of a run and the statistics of variants, suites and the run for `results.json`."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple, cast

from evalgate.measures.numeric.estimates import nearest_rank
from evalgate.measures.numeric.means import DIGITS, mean_score
from evalgate.models.comparison.comparison import IMPROVEMENTS, REGRESSIONS
from evalgate.models.run.trials import count_unmeasured, is_priced, is_unmeasured, list_measured, summarize
from evalgate.reporting.results.clean_values import clamp_count, clean_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.comparison.comparison import Change, StatisticalPower
    from evalgate.models.results.results import ChecksDoc, KnownCostDoc, SummaryDoc
    from evalgate.models.results.results_statistics import (
        ComparisonDoc,
        CostlyAssertionDoc,
        DeltaDoc,
        PassKDoc,
        ShareDoc,
        StatisticsDoc,
        VariantDoc,
    )
    from evalgate.models.run.run import Run, ScenarioResult, Share, VariantStatistics
    from evalgate.models.run.run_statistics import (
        CostlyAssertion,
        Interval,
        PassAtK,
        Statistics,
        StatisticsDelta,
        SuiteStatistics,
    )


def build_summary(
    run: Run, changes: Iterable[Change], removed: int, statistics: Statistics | None = None
) -> SummaryDoc:
    """Counts and sums over all scenarios; an amount with an unknown part becomes None, never 0.

    `statistics` are those of the run, if they are computed already.
    """
    scenarios = [scenario for suite in run.suites for scenario in suite.scenarios]
    verdicts = Counter(scenario.verdict for scenario in scenarios)
    kinds = Counter(change.kind for change in changes)
    measured = [scenario for scenario in scenarios if not is_unmeasured(scenario)]
    amounts = _sum_amounts(scenarios) if statistics is None else _amounts_from_statistics(statistics)
    found: SummaryDoc = {
        "scenarios": len(scenarios),
        "passed": verdicts["PASS"],
        "failed": verdicts["FAIL"],
        "partial": verdicts["PARTIAL"],
        "hard_fails": verdicts["HARD_FAIL"],
        "missing": verdicts["MISSING"],
        "errors": verdicts["ERROR"],
        "not_evaluable": verdicts["NOT_EVALUABLE"],
        "skipped": sum(suite.skipped for suite in run.suites),
        "trials": sum(len(list_measured(scenario.trials)) for scenario in scenarios),
        "regressions": sum(kinds[kind] for kind in REGRESSIONS),
        "improvements": sum(kinds[kind] for kind in IMPROVEMENTS),
        "regressed": kinds["regressed"],
        "broken": kinds["broken"],
        "improved": kinds["improved"],
        "fixed": kinds["fixed"],
        "new": kinds["new"],
        "removed": removed,
        "inconclusive": kinds["inconclusive"],
        "score": compute_mean_with_gaps(scenarios),
        "pass_rate": round(verdicts["PASS"] / len(measured), DIGITS) if measured else None,
        "cost_usd": amounts.cost_usd,
        "latency_p50_s": amounts.latency_p50_s,
        "latency_p95_s": amounts.latency_p95_s,
        "total_tokens": clamp_count(amounts.total_tokens),
        "checks": _count_checks(scenarios),
    }
    computed = sum(map(_count_computed_costs, scenarios))
    if computed:
        found["cost_computed"] = computed
    if amounts.cost_usd is None and (known := _find_known_cost(scenarios)) is not None:
        found["cost_known"] = known
    if quarantined := sum(scenario.quarantined for scenario in scenarios):
        found["quarantined"] = quarantined
    if unmeasured := sum(count_unmeasured(scenario.trials) for scenario in scenarios):
        found["not_measured"] = unmeasured
    return found


class _Amounts(NamedTuple):
    cost_usd: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    total_tokens: int | None


def _amounts_from_statistics(statistics: Statistics) -> _Amounts:
    return _Amounts(statistics.cost_usd, statistics.latency_p50_s, statistics.latency_p95_s, statistics.total_tokens)


def _sum_amounts(scenarios: Sequence[ScenarioResult]) -> _Amounts:
    cost, seconds, tokens = (
        [getattr(trial, name) for each in scenarios for trial in list_measured(each.trials)]
        for name in ("cost_usd", "latency_seconds", "total_tokens")
    )
    total = _sum_known(tokens)
    return _Amounts(
        _sum_known(cost), nearest_rank(seconds, 50), nearest_rank(seconds, 95), None if total is None else sum(tokens)
    )


def _sum_known(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(fsum(known), DIGITS) if known and len(known) == len(amounts) else None


def _find_known_cost(scenarios: Sequence[ScenarioResult]) -> KnownCostDoc | None:
    """Finds what is known of a cost that is unknown as a whole; None if nothing is."""
    costs = [trial.cost_usd for each in scenarios for trial in list_measured(each.trials)]
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    return {"usd": round(fsum(known), DIGITS), "unknown": len(costs) - len(known), "trials": len(costs)}


def _count_computed_costs(scenario: ScenarioResult) -> int:
    return sum(trial.cost_usd is not None and is_priced(trial) for trial in scenario.trials)


def _count_checks(scenarios: Iterable[ScenarioResult]) -> ChecksDoc:
    found: Counter[str] = Counter()
    counted = Counter(summarize(trial).outcomes for scenario in scenarios for trial in scenario.trials)
    for outcomes, trials in counted.items():
        for outcome in outcomes:
            found[outcome] += trials
    return {
        "passed": found["passed"],
        "failed": found["failed"],
        "not_evaluable": found["not_evaluable"],
        "skipped": found["skipped"],
        "error": found["error"],
    }


def compute_mean_with_gaps(scenarios: Sequence[ScenarioResult]) -> float | None:
    """Computes the mean score; scenarios without a score count as 0, but for those that an outage left unmeasured."""
    return mean_score([scenario.score or 0.0 for scenario in scenarios if not is_unmeasured(scenario)])


def build_statistics_doc(statistics: SuiteStatistics) -> StatisticsDoc:
    """Builds the statistics of a suite or the run."""
    totals = statistics.statistics
    document: StatisticsDoc = {
        "scenarios": totals.scenarios,
        "trials": totals.trials,
        "pass_rate": totals.pass_rate,
        "pass_rate_interval": _list_interval(totals.pass_rate_interval),
        "pass_k": _build_pass_k(totals.pass_k),
        "score": totals.score,
        "score_min": totals.score_min,
        "score_p50": totals.score_p50,
        "score_p95": totals.score_p95,
        "cost_usd": totals.cost_usd,
        "cost_mean_usd": totals.cost_mean_usd,
        "total_tokens": clamp_count(totals.total_tokens),
        "tokens_mean": totals.tokens_mean,
        "latency_p50_s": totals.latency_p50_s,
        "latency_p95_s": totals.latency_p95_s,
        "lost_checks": [_build_costly_check(check) for check in statistics.lost_checks],
        "delta": None if statistics.delta is None else _build_delta(statistics.delta),
    }
    if totals.not_measured:
        document["not_measured"] = totals.not_measured
    return document


def build_comparison_doc(power: StatisticalPower) -> ComparisonDoc:
    """Builds how well the comparison can distinguish changes from noise."""
    return {
        "compared": power.compared,
        "tested": power.tested,
        "single_trial": power.single_trial,
        "expected_false_alarms": power.expected_false_alarms,
    }


def build_variant_doc(variant: VariantStatistics) -> VariantDoc:
    """Builds the statistics of one variant of a suite."""
    return {
        "name": clean_name(variant.name),
        "scenarios": variant.scenarios,
        "passed": variant.passed,
        "pass_rate": round(variant.passed / variant.scenarios, DIGITS),
        "trials": variant.trials,
        "correct_tool": _build_share_doc(variant.correct_tool),
        "correct_count": _build_share_doc(variant.correct_count),
        "input_tokens": variant.input_tokens,
        "output_tokens": variant.output_tokens,
        "total_tokens": variant.total_tokens,
        "cost_usd": variant.cost_usd,
        "latency_seconds": variant.latency_seconds,
    }


def _build_delta(delta: StatisticsDelta) -> DeltaDoc:
    deltas = {**delta.deltas, "total_tokens": clamp_count(cast("int | None", delta.deltas["total_tokens"]))}
    found = {
        **deltas,
        "scenarios": delta.scenarios,
        "pass_rate_interval": _list_interval(delta.pass_rate_interval),
        "score_interval": _list_interval(delta.score_interval),
        "pass_k": _build_pass_k(delta.pass_k),
    }
    return cast("DeltaDoc", found)


def _list_interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _build_pass_k(found: Sequence[PassAtK]) -> list[PassKDoc]:
    return [{"k": each.k, "pass_at_k": each.at_least_one, "pass_hat_k": each.every_one} for each in found]


def _build_costly_check(check: CostlyAssertion) -> CostlyAssertionDoc:
    return {
        "suite": clean_name(check.suite),
        "name": clean_name(check.name),
        "type": check.type,
        "required": check.required,
        "failed": check.failed,
        "scenarios": check.scenarios,
        "weight_lost": check.weight_lost,
    }


def _build_share_doc(share: Share) -> ShareDoc:
    return {"held": share.held, "of": share.of}
