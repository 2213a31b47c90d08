"""Combines the trials of a golden's scenario into one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import mean_score
from evalgate.models.run.golden import GoldenResult
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.run.golden import GoldenTrial, Issue
    from evalgate.models.run.run import TrialResult
    from evalgate.scoring.golden.rules import GoldenRules


def combine_trials(rules: GoldenRules, trials: Sequence[TrialResult], score: float | None) -> GoldenResult:
    """The dimensions as means over the trials in which they could be judged, and every issue once."""
    found = [trial.golden for trial in trials if trial.golden is not None]
    return GoldenResult(
        rules.golden,
        {name: _mean(each.dimensions.get(name) for each in found) for name in rules.dimensions},
        None if score is None else level(score),
        _merge_issues(found),
        _score_turns_by_dimension(rules, found),
    )


def _mean(scores: Iterable[float | None]) -> float | None:
    return mean_score([score for score in scores if score is not None])


def _score_turns_by_dimension(rules: GoldenRules, trials: Sequence[GoldenTrial]) -> dict[str, Sequence[float | None]]:
    turns = {name: _score_turns(name, trials, rules.turn_count) for name in rules.dimensions}
    return {name: scores for name, scores in turns.items() if any(score is not None for score in scores)}


def _score_turns(dimension: str, trials: Sequence[GoldenTrial], count: int) -> list[float | None]:
    by_turn: list[list[float | None]] = [[] for _ in range(count)]
    for trial in trials:
        for number, turn in zip(trial.numbers, trial.turns, strict=True):
            if number is not None:
                by_turn[number].append(turn.scores.get(dimension))
    return [_mean(scores) for scores in by_turn]


def _merge_issues(trials: Sequence[GoldenTrial]) -> list[Issue]:
    """Merges the issues of all trials: those with equal category, severity, turn and message are one."""
    found: dict[tuple[str, str, int | None, str], Issue] = {}
    for trial in trials:
        for issue in trial.issues:
            turn = None if issue.turn is None or issue.turn >= len(trial.numbers) else trial.numbers[issue.turn]
            key = (issue.category, issue.severity, turn, issue.message)
            found.setdefault(key, issue._replace(turn=turn))
    return list(found.values())
