"""Builds the outcomes that a comparison needs, from a finished run or from a baseline."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast, get_args

from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
from evalgate.models.run.run import Verdict
from evalgate.models.run.trials import get_columns, list_measured, list_statuses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.comparison.baseline_run import BaselineRun
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
    trials, starts, unmeasured = baseline.trials, baseline.trial_starts, frozenset(baseline.unmeasured_rows)
    verdicts = {word: cast("Verdict", word) if word in VERDICTS else UNKNOWN_VERDICT for word in set(baseline.verdicts)}
    return {
        key: ScenarioOutcome(
            key,
            verdicts[verdict],
            score,
            trials.passed[start:end],
            trials.scores[start:end],
            trials.costs[start:end],
            trials.latencies[start:end],
            trials.tokens[start:end],
            trials.numbers[start:end],
        )
        for row, (key, verdict, score, (start, end)) in enumerate(
            zip(baseline.keys, baseline.verdicts, baseline.scores, pairwise(starts), strict=True)
        )
        if row not in unmeasured
    }


def _index_outcomes(outcomes: Iterable[ScenarioOutcome]) -> dict[ScenarioKey, ScenarioOutcome]:
    return {outcome.key: outcome for outcome in outcomes}
