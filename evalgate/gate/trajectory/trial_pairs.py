"""Pairs trials of the baseline with trials of this run, for scenarios that fail, got worse, or call other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.measures.numeric.means import DIGITS, mean_amount
from evalgate.models.comparison.comparison import CallsDiff, GrownFigure, list_scenarios
from evalgate.models.run.arms import ArmCalls
from evalgate.models.run.trials import list_measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
    from evalgate.models.comparison.trajectory import Trajectory, TrajectoryDiff
    from evalgate.models.results.baseline_run import BaselineRun, BaselineTrial
    from evalgate.models.run.run import Run, ScenarioResult, Trial

AnyTrial = TypeVar("AnyTrial", "BaselineTrial", "Trial")


class BaselineSide(NamedTuple):
    """A scenario with measured trials on both sides: its change, and those trials, neither empty."""

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
    return _iter_sides(comparison, run, baseline, _is_of_interest)


def _iter_sides(
    comparison: Comparison, run: Run, baseline: BaselineRun, is_wanted: Callable[[ScenarioResult, Change], bool]
) -> Iterator[BaselineSide]:
    for key, scenario in list_scenarios(run.suites):
        change = comparison.changes.get(key)
        if change is None or change.kind == "new" or not is_wanted(scenario, change):
            continue
        baseline_trials = baseline.find_trials(find_baseline_key(key, baseline.entries))
        measured_trials = list_measured(scenario.trials)
        if baseline_trials and measured_trials:
            yield BaselineSide(key, change, baseline_trials, measured_trials)


def add_tool_calls(comparison: Comparison, run: Run, baseline: BaselineRun) -> None:
    """Adds to each change the tool calls of this run's worst trial and of its counterpart in the baseline.

    For a scenario that passes as before, of the first trial whose calls no trial of the baseline made, if there is one.
    """
    for _, change, baseline_trials, trials in find_scenarios_of_interest(comparison, run, baseline):
        change.calls = _compare_calls(baseline_trials, _find_worst(trials))
    for _, change, baseline_trials, trials in _iter_sides(comparison, run, baseline, _is_unchanged):
        known = [each.tool_calls for each in baseline_trials]
        other = next((trial for trial in trials if list(trial.tool_calls) not in known), None)
        if other is not None:
            change.calls = _compare_calls(baseline_trials, other)


_EXPLAINING: tuple[tuple[str, Callable[[Any], float | None]], ...] = (
    ("input_tokens", lambda trial: trial.input_tokens),
    ("output_tokens", lambda trial: trial.output_tokens),
    ("calls", lambda trial: len(trial.tool_calls)),
)
MOST_COUNTED = 20
"""Scenarios whose calls are counted: it reads their trials again."""


def add_explaining_figures(comparison: Comparison, run: Run, baseline: BaselineRun) -> None:
    """Adds, to the costs or tokens that grew most, a trial's input and output tokens and calls, before and now."""
    changes = [change for change in comparison.changes.values() if change.grown]
    changes.sort(key=lambda change: change.grown[0].before - change.grown[0].now)
    wanted = {id(change) for change in changes[:MOST_COUNTED]}
    for _, change, *sides in _iter_sides(comparison, run, baseline, lambda _, change: id(change) in wanted):
        grown = list(change.grown)
        for name, count in _EXPLAINING:
            before, now = (mean_amount([count(each) for each in side]) for side in sides)
            if before is not None and now is not None:
                grown.append(GrownFigure(name, round(before, DIGITS), round(now, DIGITS)))
        change.grown = grown


def compare_worst_calls(control: Sequence[Trial], treatment: Sequence[Trial]) -> ArmCalls:
    """The calls of the worst trial of the treatment, and of its counterpart in the control; neither is empty."""
    worst = _find_worst(treatment)
    counterpart = _find_counterpart(control, worst.trial)
    return ArmCalls(counterpart.trial, list(counterpart.tool_calls), worst.trial, list(worst.tool_calls))


def _compare_calls(baseline_trials: Sequence[BaselineTrial], trial: Trial) -> CallsDiff:
    counterpart = _find_counterpart(baseline_trials, trial.trial)
    return CallsDiff(counterpart.trial, list(counterpart.tool_calls), trial.trial, list(trial.tool_calls))


def pair_worst_trial(baseline_trials: Sequence[BaselineTrial], trials: Sequence[Trial]) -> TrialPair:
    """Pairs the worst trial with the baseline's passed trial of that number, else with the first passed."""
    worst = _find_worst(trials)
    return TrialPair(_find_counterpart(baseline_trials, worst.trial), worst)


def _find_worst(trials: Sequence[Trial]) -> Trial:
    return min(trials, key=lambda trial: trial_sort_key(trial.status, trial.score))


def _find_counterpart(trials: Sequence[AnyTrial], number: int) -> AnyTrial:
    passed = [trial for trial in trials if trial.status == "passed"] or trials
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


def _is_unchanged(scenario: ScenarioResult, change: Change) -> bool:
    return scenario.verdict == "PASS" and change.kind == "unchanged"
