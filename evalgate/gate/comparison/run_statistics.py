"""Statistics of a run and of its suites, with their changes since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.gate.comparison.scenario_outcome import scenario_outcome
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run_statistics import RunStatistics, SuiteStatistics
from evalgate.scoring.failed_checks import costliest, lost_checks
from evalgate.scoring.run_statistics import figures_of, moves_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.comparison.comparison import Comparison, ScenarioOutcome
    from evalgate.models.run.run import Run, SuiteResult
    from evalgate.models.run.run_statistics import CostlyAssertion


def figures_of_run(run: Run, comparison: Comparison | None) -> RunStatistics:
    """Computes statistics, and their changes over the scenarios that both sides have.

    Frees the outcomes of this run in the comparison: they are not used later, when results are written.
    """
    before: Mapping[ScenarioKey, ScenarioOutcome] = comparison.before if comparison else {}
    known: Mapping[ScenarioKey, ScenarioOutcome] = {}
    if comparison is not None:
        known, comparison.now = comparison.now, {}
    lost = [lost_checks(suite.name, suite.scenarios) for suite in run.suites]
    suites = {
        suite.name: _summed(_standings([suite], known), before, checks)
        for suite, checks in zip(run.suites, lost, strict=True)
    }
    if len(suites) == 1:
        (only,) = suites.values()
        return RunStatistics(only, suites)
    return RunStatistics(
        _summed(_standings(run.suites, known), before, costliest(check for each in lost for check in each)),
        suites,
    )


def _summed(
    standings: Iterator[ScenarioOutcome],
    before: Mapping[ScenarioKey, ScenarioOutcome],
    lost: Sequence[CostlyAssertion],
) -> SuiteStatistics:
    if not before:
        return SuiteStatistics(figures_of(standings), None, lost)
    now = list(standings)
    both = [found for found in now if found.key in before]
    figures, earlier = figures_of(now), [before[found.key] for found in both]
    return SuiteStatistics(figures, moves_of(earlier, both, figures if len(both) == len(now) else None), lost)


def _standings(
    suites: Sequence[SuiteResult], known: Mapping[ScenarioKey, ScenarioOutcome]
) -> Iterator[ScenarioOutcome]:
    """The outcome of each scenario, taken from the comparison if there was one."""
    for suite in suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            yield known.get(key) or scenario_outcome(suite.name, scenario)
