"""Builds the summary of a run for `results.json`."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.numeric.estimates import nearest_rank
from evalgate.measures.numeric.means import DIGITS, mean_score
from evalgate.models.comparison.comparison import IMPROVEMENTS, REGRESSIONS
from evalgate.models.run.trials import count_unmeasured, is_priced, is_unmeasured, list_measured, summarize
from evalgate.reporting.results.clean_values import clamp_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.comparison.comparison import Change
    from evalgate.models.results.results import ChecksDoc, SummaryDoc
    from evalgate.models.run.run import Outcome, Run, ScenarioResult
    from evalgate.models.run.run_statistics import Statistics


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


def _count_computed_costs(scenario: ScenarioResult) -> int:
    return sum(trial.cost_usd is not None and is_priced(trial) for trial in scenario.trials)


def _count_checks(scenarios: Iterable[ScenarioResult]) -> ChecksDoc:
    found: Counter[Outcome] = Counter()
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
