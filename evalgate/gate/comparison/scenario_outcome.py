"""Builds the outcomes that a comparison needs, from a finished run or from a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
from evalgate.models.run.run import Verdict
from evalgate.models.run.trials import get_columns, list_measured, list_statuses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.comparison.baseline_run import BaselineEntry, BaselineRun
    from evalgate.models.run.run import Run, ScenarioResult

VERDICTS = frozenset(get_args(Verdict))
UNKNOWN_VERDICT: Verdict = "NOT_EVALUABLE"
COLUMNS = "score", "cost_usd", "latency_seconds", "total_tokens", "trial"


def outcome_from_scenario(suite: str, scenario: ScenarioResult) -> ScenarioOutcome:
    """The outcome of a scenario of `suite` in this run."""
    key, trials = ScenarioKey(suite, scenario.id, scenario.variant), list_measured(scenario.trials)
    passed = [status == "passed" for status in list_statuses(trials)]
    scores, costs, latencies, tokens, numbers = get_columns(trials, COLUMNS)
    unmeasured = len(scenario.trials) - len(trials)
    return ScenarioOutcome(
        key, scenario.verdict, scenario.score, passed, scores, costs, latencies, tokens, numbers, unmeasured
    )


def outcomes_from_run(run: Run) -> dict[ScenarioKey, ScenarioOutcome]:
    """The outcome of every scenario of this run, by key."""
    return _index_outcomes(
        outcome_from_scenario(suite.name, scenario) for suite in run.suites for scenario in suite.scenarios
    )


def outcomes_from_baseline(baseline: BaselineRun) -> dict[ScenarioKey, ScenarioOutcome]:
    """The outcome of every scenario of the baseline, by key, but for those that an outage left unmeasured.

    A verdict that this version does not know counts as NOT_EVALUABLE.
    """
    return {key: _outcome_of_entry(key, entry) for key, entry in baseline.entries.items() if not entry.is_absent}


def _outcome_of_entry(key: ScenarioKey, entry: BaselineEntry) -> ScenarioOutcome:
    trials = entry.measured
    return ScenarioOutcome(
        key,
        cast("Verdict", entry.verdict) if entry.verdict in VERDICTS else UNKNOWN_VERDICT,
        entry.score,
        [trial.passed for trial in trials],
        [trial.score for trial in trials],
        [trial.cost_usd for trial in trials],
        [trial.latency_seconds for trial in trials],
        [trial.total_tokens for trial in trials],
        [trial.trial for trial in trials],
    )


def _index_outcomes(outcomes: Iterable[ScenarioOutcome]) -> dict[ScenarioKey, ScenarioOutcome]:
    return {outcome.key: outcome for outcome in outcomes}
