"""Builds the statistics of variants, suites and the run for `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.measures.numeric.means import DIGITS
from evalgate.reporting.results.clean_values import clamp_count, clean_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import StatisticalPower
    from evalgate.models.results.results_statistics import (
        ComparisonDoc,
        CostlyAssertionDoc,
        DeltaDoc,
        PassKDoc,
        ShareDoc,
        StatisticsDoc,
        VariantDoc,
    )
    from evalgate.models.run.run import Share, VariantStatistics
    from evalgate.models.run.run_statistics import CostlyAssertion, Interval, PassAtK, StatisticsDelta, SuiteStatistics


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
