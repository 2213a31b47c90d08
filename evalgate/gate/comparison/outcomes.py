"""The outcomes of scenarios that a comparison needs, and statistics over them with their changes since the baseline."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, cast, get_args

from msgspec.structs import replace

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome, list_scenarios
from evalgate.models.run.run import Verdict
from evalgate.models.run.run_statistics import RunStatistics, SuiteStatistics
from evalgate.models.run.trials import filter_by_status, get_digest, get_recorded, list_measured
from evalgate.scoring.run_statistics import compute_delta, compute_statistics, find_costliest_assertions, sort_by_cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.comparison import Comparison
    from evalgate.models.results.baseline_run import BaselineEntry, BaselineRun
    from evalgate.models.run.run import Run, ScenarioResult, SuiteResult
    from evalgate.models.run.run_statistics import CostlyAssertion, Statistics

VERDICTS = frozenset(get_args(Verdict))
UNKNOWN_VERDICT: Verdict = "NOT_EVALUABLE"


def outcome_from_scenario(key: ScenarioKey, scenario: ScenarioResult) -> ScenarioOutcome:
    """The outcome of a scenario in this run."""
    trials = list_measured(scenario.trials)
    return ScenarioOutcome(
        key,
        scenario.verdict,
        scenario.score,
        [trial.status == "passed" for trial in trials],
        [trial.score for trial in trials],
        [trial.cost_usd for trial in trials],
        [trial.latency_seconds for trial in trials],
        [trial.total_tokens for trial in trials],
        [trial.trial for trial in trials],
        len(scenario.trials) - len(trials),
        [get_recorded(trial) for trial in trials],
        [get_digest(trial) for trial in trials],
    )


def outcomes_from_run(run: Run) -> dict[ScenarioKey, ScenarioOutcome]:
    """The outcome of every scenario of this run, by key."""
    return {key: outcome_from_scenario(key, scenario) for key, scenario in list_scenarios(run.suites)}


def outcomes_from_baseline(baseline: BaselineRun) -> dict[ScenarioKey, ScenarioOutcome]:
    """The outcome of every scenario of the baseline, by key, but for those that an outage left unmeasured."""
    return {key: _outcome_of_entry(key, entry) for key, entry in baseline.entries.items() if not entry.is_absent}


def read_verdict(entry: BaselineEntry) -> Verdict:
    """Its verdict; one that this version does not know counts as NOT_EVALUABLE."""
    return cast("Verdict", entry.verdict) if entry.verdict in VERDICTS else UNKNOWN_VERDICT


def _outcome_of_entry(key: ScenarioKey, entry: BaselineEntry) -> ScenarioOutcome:
    trials = entry.measured
    return ScenarioOutcome(
        key,
        read_verdict(entry),
        entry.score,
        [trial.passed for trial in trials],
        [trial.score for trial in trials],
        [trial.cost_usd for trial in trials],
        [trial.latency_seconds for trial in trials],
        [trial.total_tokens for trial in trials],
        [trial.trial for trial in trials],
        recorded=[trial.recorded for trial in trials],
        digests=[trial.trace.digest for trial in trials],
        failed_required=entry.failed_required,
    )


def compute_run_statistics(run: Run, comparison: Comparison | None) -> RunStatistics:
    """Computes statistics, and their changes over the scenarios that both sides measured.

    Frees the outcomes of this run in the comparison: they are not used later, when results are written.
    """
    baseline: Mapping[ScenarioKey, ScenarioOutcome] = comparison.baseline_outcomes if comparison else {}
    outcomes: Mapping[ScenarioKey, ScenarioOutcome] = {}
    if comparison is not None:
        outcomes, comparison.outcomes = comparison.outcomes, {}
    failed_checks = [find_costliest_assertions(suite.name, suite.scenarios) for suite in run.suites]
    suites = {
        suite.name: _summarise_suites([suite], outcomes, baseline, checks)
        for suite, checks in zip(run.suites, failed_checks, strict=True)
    }
    if len(suites) == 1:
        (only,) = suites.values()
        return RunStatistics(only, suites)
    return RunStatistics(
        _summarise_suites(
            run.suites, outcomes, baseline, sort_by_cost(check for each in failed_checks for check in each)
        ),
        suites,
    )


def _summarise_suites(
    suites: Sequence[SuiteResult],
    known: Mapping[ScenarioKey, ScenarioOutcome],
    baseline: Mapping[ScenarioKey, ScenarioOutcome],
    failed_checks: Sequence[CostlyAssertion],
) -> SuiteStatistics:
    outcomes = (known.get(key) or outcome_from_scenario(key, each) for key, each in list_scenarios(suites))
    if not baseline:
        return SuiteStatistics(_add_outages(compute_statistics(outcomes), suites), None, failed_checks)
    current = list(outcomes)
    shared = [found for found in current if found.key in baseline and not found.is_unmeasured]
    statistics, baseline_outcomes = compute_statistics(current), [baseline[found.key] for found in shared]
    return SuiteStatistics(
        _add_outages(statistics, suites),
        compute_delta(baseline_outcomes, shared, statistics if len(shared) == len(current) else None),
        failed_checks,
    )


def _add_outages(statistics: Statistics, suites: Sequence[SuiteResult]) -> Statistics:
    """Adds the trials that outages left unmeasured: their number, and their known cost and tokens to the totals."""
    found = [filter_by_status(scenario.trials, "not_measured") for suite in suites for scenario in suite.scenarios]
    count = sum(map(len, found))
    if not count:
        return statistics
    cost, tokens = (
        _add_known(
            total,
            [getattr(trial, name) for trials in found for trial in trials],
            statistics.trials,
        )
        for name, total in (("cost_usd", statistics.cost_usd), ("total_tokens", statistics.total_tokens))
    )
    return replace(
        statistics,
        cost_usd=None if cost is None else round(cost, DIGITS),
        total_tokens=None if tokens is None else int(tokens),
        not_measured=count,
    )


def _add_known(total: float | None, amounts: Sequence[float | None], trials: int) -> float | None:
    """The total with the known amounts; unknown if that of the measured trials is, or if nothing is known."""
    known = [amount for amount in amounts if amount is not None]
    if not known or (total is None and trials):
        return total
    return fsum((total or 0, *known))
