"""The results of a golden: of one trace, and of all trials of its scenario together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.numeric.means import mean_score
from evalgate.measures.values.json_values import show, truncate
from evalgate.models.run.golden import GoldenResult, GoldenTrial, TurnResult
from evalgate.scoring.golden.judging import judge_golden
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.run.golden import Issue
    from evalgate.models.run.run import TrialResult
    from evalgate.models.trace.trace import Trace
    from evalgate.scoring.golden.judging import GoldenJudgement
    from evalgate.scoring.golden.rules import GoldenRules

MOST_TURNS = 200
MOST_ISSUES = 100
MOST_VALUES = 50
"""Memories, and results of tools, that are kept for each turn."""
MAX_TEXT, MAX_VALUE = 10_000, 2_000
"""Characters of a message, and of such a value, that are kept."""


def build_golden_trial(rules: GoldenRules, trace: Trace) -> GoldenTrial:
    """The dimensions, turns and issues of one trace, within bounds."""
    judgement = judge_golden(rules, trace)
    return GoldenTrial(
        {name: each.score for name, each in judgement.dimensions.items()},
        [_build_turn(judgement, index) for index in range(min(len(judgement.turn_pairs), MOST_TURNS))],
        list(judgement.issues[:MOST_ISSUES]),
        [each.step.golden for each in judgement.turn_pairs[:MOST_TURNS]],
        [index for index, each in enumerate(judgement.turn_pairs[:MOST_TURNS]) if each.is_missing],
        trace.conversation_id,
    )


def _build_turn(judgement: GoldenJudgement, index: int) -> TurnResult:
    pair = judgement.turn_pairs[index]
    actual = pair.actual
    scores: dict[str, float | None] = {
        name: each.steps[index] for name, each in judgement.dimensions.items() if each.steps
    }
    issues = tuple(issue for issue in judgement.issues if issue.turn == index)
    texts = (_cut_text(pair.user), _cut_text(actual.response if actual is not None else None), _cut_text(pair.response))
    if actual is None:
        return TurnResult(*texts, scores, issues=issues)
    return TurnResult(
        *texts,
        scores,
        latency_ms=actual.latency_ms,
        tokens=actual.tokens,
        cost=actual.cost,
        retrieved_memories=tuple(_cut_value(memory.recorded) for memory in actual.memories[:MOST_VALUES]),
        tools_invoked=tuple(call["name"] for call in actual.calls[:MOST_VALUES]),
        tool_results=tuple(_cut_value(call["result"]) for call in actual.calls[:MOST_VALUES]),
        issues=issues,
        evidence=tuple(issue.evidence for issue in issues if issue.evidence),
    )


def _cut_text(text: str | None) -> str | None:
    return text if text is None or len(text) <= MAX_TEXT + 1 else f"{truncate(text, MAX_TEXT)}\u2026"


def _cut_value(value: Any) -> Any:
    """A JSON value if it is small enough, else its beginning as text."""
    shown = show(value, MAX_VALUE)
    return value if len(shown) <= MAX_VALUE else shown


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
