"""Builds the statistics of variants, suites and the run for `results.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.measures.numeric.means import DIGITS
from evalgate.reporting.results.bounded import bounded_name, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.comparison.comparison import Evidence
    from evalgate.models.results.results_statistics import (
        ComparisonDoc,
        DeltaDoc,
        FiguresDoc,
        LostCheckDoc,
        PassKDoc,
        ShareDoc,
        VariantDoc,
    )
    from evalgate.models.run.run import Share, VariantFigures
    from evalgate.models.run.run_statistics import (
        CostlyAssertion,
        Interval,
        PassAtK,
        StatisticsDelta,
        SuiteStatistics,
    )


def figures_doc(summed: SuiteStatistics) -> FiguresDoc:
    """Builds the statistics of a suite or the run."""
    figures = summed.figures
    return {
        "scenarios": figures.scenarios,
        "trials": figures.trials,
        "pass_rate": figures.pass_rate,
        "pass_rate_interval": _interval(figures.pass_rate_interval),
        "pass_k": _pass_k(figures.pass_k),
        "score": figures.score,
        "score_min": figures.score_min,
        "score_p50": figures.score_p50,
        "score_p95": figures.score_p95,
        "cost_usd": figures.cost_usd,
        "cost_mean_usd": figures.cost_mean_usd,
        "total_tokens": whole(figures.total_tokens),
        "tokens_mean": figures.tokens_mean,
        "latency_p50_s": figures.latency_p50_s,
        "latency_p95_s": figures.latency_p95_s,
        "lost_checks": [_lost_check(check) for check in summed.lost_checks],
        "delta": None if summed.moves is None else _delta(summed.moves),
    }


def comparison_doc(evidence: Evidence) -> ComparisonDoc:
    """Builds how well the comparison can distinguish changes from noise."""
    return {
        "compared": evidence.compared,
        "tested": evidence.tested,
        "single_trial": evidence.single_trial,
        "expected_false_alarms": evidence.expected_false_alarms,
    }


def variant_doc(variant: VariantFigures) -> VariantDoc:
    """Builds the statistics of one variant of a suite."""
    return {
        "name": bounded_name(variant.name),
        "scenarios": variant.scenarios,
        "passed": variant.passed,
        "pass_rate": round(variant.passed / variant.scenarios, DIGITS),
        "trials": variant.trials,
        "correct_tool": _share_doc(variant.correct_tool),
        "correct_count": _share_doc(variant.correct_count),
        "input_tokens": variant.input_tokens,
        "output_tokens": variant.output_tokens,
        "total_tokens": variant.total_tokens,
        "cost_usd": variant.cost_usd,
        "latency_seconds": variant.latency_seconds,
    }


def _delta(moves: StatisticsDelta) -> DeltaDoc:
    moved = {**moves.moved, "total_tokens": whole(cast("int | None", moves.moved["total_tokens"]))}
    found = {
        **moved,
        "scenarios": moves.scenarios,
        "pass_rate_interval": _interval(moves.pass_rate_interval),
        "score_interval": _interval(moves.score_interval),
        "pass_k": _pass_k(moves.pass_k),
    }
    return cast("DeltaDoc", found)


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _pass_k(found: Sequence[PassAtK]) -> list[PassKDoc]:
    return [{"k": each.k, "pass_at_k": each.at_least_one, "pass_hat_k": each.every_one} for each in found]


def _lost_check(check: CostlyAssertion) -> LostCheckDoc:
    return {
        "suite": bounded_name(check.suite),
        "name": bounded_name(check.name),
        "type": check.type,
        "required": check.required,
        "failed": check.failed,
        "scenarios": check.scenarios,
        "weight_lost": check.weight_lost,
    }


def _share_doc(share: Share) -> ShareDoc:
    return {"held": share.held, "of": share.of}
