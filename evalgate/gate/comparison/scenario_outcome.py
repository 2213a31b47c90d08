"""Builds the outcomes that a comparison needs, from a finished run or from a baseline."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast, get_args

from evalgate.models.comparison.comparison import ScenarioKey, ScenarioOutcome
from evalgate.models.run.run import Verdict
from evalgate.models.run.trials import columns, statuses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.run.run import Run, ScenarioResult

VERDICTS = frozenset(get_args(Verdict))
UNKNOWN: Verdict = "NOT_EVALUABLE"
FIGURES = "score", "cost_usd", "latency_seconds", "total_tokens", "trial"


def scenario_outcome(suite: str, scenario: ScenarioResult) -> ScenarioOutcome:
    """The outcome of a scenario of `suite` in this run."""
    key, trials = ScenarioKey(suite, scenario.id, scenario.variant), scenario.trials
    passed = [status == "passed" for status in statuses(trials)]
    return ScenarioOutcome(key, scenario.verdict, scenario.score, passed, *columns(trials, FIGURES))


def outcomes_of_run(run: Run) -> dict[ScenarioKey, ScenarioOutcome]:
    """The outcome of every scenario of this run, by key."""
    return _by_key(
        scenario_outcome(suite.name, scenario) for suite in run.suites for scenario in suite.scenarios
    )


def outcomes_of_baseline(earlier: BaselineRun) -> dict[ScenarioKey, ScenarioOutcome]:
    """The outcome of every scenario of the baseline, by key.

    A verdict that this version does not know counts as NOT_EVALUABLE.
    """
    of, starts = earlier.trials, earlier.starts
    known = {word: cast("Verdict", word) if word in VERDICTS else UNKNOWN for word in set(earlier.verdicts)}
    return {
        key: ScenarioOutcome(
            key,
            known[verdict],
            score,
            of.passed[start:end],
            of.scores[start:end],
            of.costs[start:end],
            of.latencies[start:end],
            of.tokens[start:end],
            of.numbers[start:end],
        )
        for key, verdict, score, (start, end) in zip(
            earlier.keys, earlier.verdicts, earlier.scores, pairwise(starts), strict=True
        )
    }


def _by_key(standings: Iterable[ScenarioOutcome]) -> dict[ScenarioKey, ScenarioOutcome]:
    return {found.key: found for found in standings}
