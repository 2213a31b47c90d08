"""Pairs trials of the baseline with trials of this run, for scenarios that fail or got worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.models.comparison.comparison import CallsDiff, ScenarioKey
from evalgate.models.run.trials import list_measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.comparison.baseline_run import BaselineRun, BaselineTrial
    from evalgate.models.comparison.comparison import Change, Comparison
    from evalgate.models.comparison.trajectory import Trajectory, TrajectoryDiff
    from evalgate.models.run.run import Run, ScenarioResult, Trial


class BaselineSide(NamedTuple):
    """A scenario that fails or got worse: its change, and its trials on both sides, neither empty."""

    key: ScenarioKey
    change: Change
    baseline_trials: Sequence[BaselineTrial]
    trials: Sequence[Trial]


class TrialPair(NamedTuple):
    """A trial of the baseline and the trial of this run that it is compared with."""

    baseline_trial: BaselineTrial
    trial: Trial


def find_scenarios_of_interest(comparison: Comparison, run: Run, baseline: BaselineRun) -> Iterator[BaselineSide]:
    """Scenarios that do not pass, or changed for the worse, and have measured trials on both sides."""
    for suite in run.suites:
        for scenario in suite.scenarios:
            key = ScenarioKey(suite.name, scenario.id, scenario.variant)
            change = comparison.changes.get(key)
            if change is None or not _is_of_interest(scenario, change):
                continue
            baseline_trials = baseline.find_trials(find_baseline_key(key, baseline.entries))
            measured_trials = list_measured(scenario.trials)
            if baseline_trials and measured_trials:
                yield BaselineSide(key, change, baseline_trials, measured_trials)


def add_tool_calls(comparison: Comparison, run: Run, baseline: BaselineRun) -> None:
    """Adds to each change the tool calls of this run's worst trial and of its counterpart in the baseline."""
    for _, change, baseline_trials, trials in find_scenarios_of_interest(comparison, run, baseline):
        worst = _find_worst(trials)
        counterpart = _find_counterpart(baseline_trials, worst.trial)
        change.calls = CallsDiff(counterpart.trial, list(counterpart.tool_calls), worst.trial, list(worst.tool_calls))


def pair_worst_trial(baseline_trials: Sequence[BaselineTrial], trials: Sequence[Trial]) -> TrialPair:
    """Pairs the worst trial with the baseline's passed trial of that number, else with the first passed."""
    worst = _find_worst(trials)
    return TrialPair(_find_counterpart(baseline_trials, worst.trial), worst)


def _find_worst(trials: Sequence[Trial]) -> Trial:
    return min(trials, key=lambda trial: trial_sort_key(trial.status, trial.score))


def _find_counterpart(baseline_trials: Sequence[BaselineTrial], number: int) -> BaselineTrial:
    passed = [trial for trial in baseline_trials if trial.passed] or baseline_trials
    return next((trial for trial in passed if trial.trial == number), passed[0])


def trial_sort_key(status: str, score: float | None) -> tuple[bool, float]:
    """The sort key of the trials of one scenario, the worst first."""
    return status == "passed", score or 0.0


def compare_pair(pair: TrialPair, baseline: Trajectory, current: Trajectory) -> TrajectoryDiff:
    """How the two traces of a pair differ, with score, cost, latency and tokens of both trials."""
    from evalgate.gate.trajectory.trajectory_diff import diff_trajectories
    from evalgate.models.comparison.trajectory import FigureDelta

    behaviour = diff_trajectories(baseline, current, pair.baseline_trial.trial, pair.trial.trial)
    baseline_trial, trial = pair
    behaviour.figures = [
        FigureDelta("score", baseline_trial.score, trial.score),
        FigureDelta("cost_usd", baseline_trial.cost_usd, trial.cost_usd),
        FigureDelta("latency_seconds", baseline_trial.latency_seconds, trial.latency_seconds),
        FigureDelta("total_tokens", baseline_trial.total_tokens, trial.total_tokens),
    ]
    return behaviour


def _is_of_interest(scenario: ScenarioResult, change: Change) -> bool:
    return bool(scenario.trials) and (
        scenario.verdict != "PASS" or change.kind in {"broken", "regressed", "inconclusive"}
    )
