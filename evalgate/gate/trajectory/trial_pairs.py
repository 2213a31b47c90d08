"""Pairs trials of the baseline with trials of this run, for scenarios that fail or got worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.common.stored_key import stored_key
from evalgate.models.comparison.comparison import CallsCompared, ScenarioKey
from evalgate.models.run.trials import calls_in, column, statuses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.baseline_run import BaselineRun, BaselineTrial
    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.comparison.trajectory import Behaviour, Trajectory
    from evalgate.models.run.run import Run, ScenarioResult, TrialResult


class BaselineSide(NamedTuple):
    """A scenario that fails or got worse: its change, and its trials on both sides, neither empty."""

    key: ScenarioKey
    change: Change
    earlier: Sequence[BaselineTrial]
    trials: Sequence[TrialResult]


class TrialPair(NamedTuple):
    """A trial of the baseline and the trial of this run that it is compared with."""

    earlier: BaselineTrial
    trial: TrialResult


def not_well(comparison: Comparison, run: Run, before: BaselineRun) -> Iterator[BaselineSide]:
    """Scenarios that do not pass, or changed for the worse, and have trials on both sides."""
    for suite in run.suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            change = comparison.changes.get(key)
            if change is None or not _is_of_interest(scenario, change):
                continue
            earlier = before.trials_of(stored_key(key, before.places))
            if earlier:
                yield BaselineSide(key, change, earlier, scenario.trials)


def add_calls(comparison: Comparison, run: Run, before: BaselineRun) -> None:
    """Adds to each change the tool calls of this run's worst trial and of its counterpart in the baseline."""
    for _, change, earlier, trials in not_well(comparison, run, before):
        worst = _worst(trials)
        number = column(trials, "trial")[worst]
        alike = _alike(earlier, number)
        now = list(calls_in(trials, worst))
        change.calls = CallsCompared(alike.trial, list(alike.tool_calls), number, now)


def pair_of(earlier: Sequence[BaselineTrial], trials: Sequence[TrialResult]) -> TrialPair:
    """Pairs the worst trial with the baseline's passed trial of that number, else with the first passed."""
    worst = trials[_worst(trials)]
    return TrialPair(_alike(earlier, worst.trial), worst)


def _worst(trials: Sequence[TrialResult]) -> int:
    ranks = list(map(rank, statuses(trials), column(trials, "score")))
    return ranks.index(min(ranks))


def _alike(earlier: Sequence[BaselineTrial], number: int) -> BaselineTrial:
    passed = [trial for trial in earlier if trial.passed] or earlier
    return next((trial for trial in passed if trial.trial == number), passed[0])


def rank(status: str, score: float | None) -> tuple[bool, float]:
    """The sort key of the trials of one scenario, the worst first."""
    return status == "passed", score or 0.0


def behaviour_of(pair: TrialPair, before: Trajectory, now: Trajectory) -> Behaviour:
    """How the two traces of a pair differ, with score, cost, latency and tokens of both trials."""
    from evalgate.gate.trajectory.trajectory_diff import course_difference
    from evalgate.models.comparison.trajectory import FigureMoved

    found = course_difference(before, now, pair.earlier.trial, pair.trial.trial)
    earlier, trial = pair
    found.figures = [
        FigureMoved("score", earlier.score, trial.score),
        FigureMoved("cost_usd", earlier.cost_usd, trial.cost_usd),
        FigureMoved("latency_seconds", earlier.latency_seconds, trial.latency_seconds),
        FigureMoved("total_tokens", earlier.total_tokens, trial.total_tokens),
    ]
    return found


def _is_of_interest(scenario: ScenarioResult, change: Change) -> bool:
    return bool(scenario.trials) and (
        scenario.verdict != "PASS" or change.kind in {"broken", "regressed", "inconclusive"}
    )
