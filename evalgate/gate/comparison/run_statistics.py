"""Statistics of a run and of its suites, with their changes since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.comparison.scenario_outcome import outcome_from_scenario
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run_statistics import RunStatistics, SuiteStatistics
from evalgate.scoring.failed_checks import find_costliest_assertions, sort_by_cost
from evalgate.scoring.run_statistics import compute_delta, compute_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import Comparison, ScenarioOutcome
    from evalgate.models.run.run import Run, SuiteResult
    from evalgate.models.run.run_statistics import CostlyAssertion


def compute_run_statistics(run: Run, comparison: Comparison | None) -> RunStatistics:
    """Computes statistics, and their changes over the scenarios that both sides have.

    Frees the outcomes of this run in the comparison: they are not used later, when results are written.
    """
    baseline: Mapping[ScenarioKey, ScenarioOutcome] = comparison.baseline_outcomes if comparison else {}
    outcomes: Mapping[ScenarioKey, ScenarioOutcome] = {}
    if comparison is not None:
        outcomes, comparison.outcomes = comparison.outcomes, {}
    failed_checks = [find_costliest_assertions(suite.name, suite.scenarios) for suite in run.suites]
    suites = {
        suite.name: _summarise_suites(_iterate_outcomes([suite], outcomes), baseline, checks)
        for suite, checks in zip(run.suites, failed_checks, strict=True)
    }
    if len(suites) == 1:
        (only,) = suites.values()
        return RunStatistics(only, suites)
    return RunStatistics(
        _summarise_suites(
            _iterate_outcomes(run.suites, outcomes),
            baseline,
            sort_by_cost(check for each in failed_checks for check in each),
        ),
        suites,
    )


def _summarise_suites(
    outcomes: Iterator[ScenarioOutcome],
    baseline: Mapping[ScenarioKey, ScenarioOutcome],
    failed_checks: Sequence[CostlyAssertion],
) -> SuiteStatistics:
    if not baseline:
        return SuiteStatistics(compute_statistics(outcomes), None, failed_checks)
    current = list(outcomes)
    shared = [found for found in current if found.key in baseline]
    statistics, baseline_outcomes = compute_statistics(current), [baseline[found.key] for found in shared]
    return SuiteStatistics(
        statistics,
        compute_delta(baseline_outcomes, shared, statistics if len(shared) == len(current) else None),
        failed_checks,
    )


def _iterate_outcomes(
    suites: Sequence[SuiteResult], outcomes: Mapping[ScenarioKey, ScenarioOutcome]
) -> Iterator[ScenarioOutcome]:
    """The outcome of each scenario, taken from the comparison if there was one."""
    for suite in suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            yield outcomes.get(key) or outcome_from_scenario(suite.name, scenario)
