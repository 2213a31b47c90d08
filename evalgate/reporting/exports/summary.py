"""The figures of a run, as `results.json` promises them."""

from __future__ import annotations

from collections import Counter
from math import fsum
from typing import TYPE_CHECKING

from evalgate.measures.means import DIGITS, mean_score
from evalgate.measures.percentile import nearest_rank
from evalgate.models.comparison import IMPROVEMENTS, REGRESSIONS
from evalgate.models.trials import column, outcomes, priced
from evalgate.reporting.exports.bounded import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.comparison import Change
    from evalgate.models.results import ChecksDoc, SummaryDoc
    from evalgate.models.run import Run, ScenarioResult


def summary(run: Run, changes: Iterable[Change], removed: int) -> SummaryDoc:
    """Counts and figures over all scenarios; an amount with an unknown part is None, never 0."""
    scenarios = [scenario for suite in run.suites for scenario in suite.scenarios]
    verdicts = Counter(scenario.verdict for scenario in scenarios)
    kinds = Counter(change.kind for change in changes)
    latencies = [seconds for each in scenarios for seconds in column(each.trials, "latency_seconds")]
    tokens = [count for each in scenarios for count in column(each.trials, "total_tokens")]
    costs = [cost for each in scenarios for cost in column(each.trials, "cost_usd")]
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
        "score": mean_with_gaps(scenarios),
        "pass_rate": round(verdicts["PASS"] / len(scenarios), DIGITS) if scenarios else None,
        "cost_usd": _total(costs),
        "latency_p50_s": nearest_rank(latencies, 50),
        "latency_p95_s": nearest_rank(latencies, 95),
        "total_tokens": None if not tokens or None in tokens else whole(sum(filter(None, tokens))),
        "checks": _checks(scenarios),
    }
    is_priced = (known for each in scenarios for known in priced(each.trials))
    computed = sum(known and cost is not None for known, cost in zip(is_priced, costs, strict=True))
    if computed:
        found["cost_computed"] = computed
    if quarantined := sum(scenario.quarantined for scenario in scenarios):
        found["quarantined"] = quarantined
    return found


def _checks(scenarios: Iterable[ScenarioResult]) -> ChecksDoc:
    found: Counter[str] = Counter()
    for scenario in scenarios:
        found.update(outcomes(scenario.trials))
    return {
        "passed": found["passed"],
        "failed": found["failed"],
        "not_evaluable": found["not_evaluable"],
        "skipped": found["skipped"],
        "error": found["error"],
    }


def mean_with_gaps(scenarios: Sequence[ScenarioResult]) -> float | None:
    """Mean score over scenarios in which nothing scored counts as 0; None of none."""
    return mean_score([scenario.score or 0.0 for scenario in scenarios])


def _total(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(fsum(known), DIGITS) if known and len(known) == len(amounts) else None
