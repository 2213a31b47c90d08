"""One trace judged against its golden, in the form that results store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.values.json_values import show, truncate
from evalgate.models.run.golden import GoldenTrial, TurnResult
from evalgate.scoring.golden.judging import judge_golden

if TYPE_CHECKING:
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
    return text if text is None or len(text) <= MAX_TEXT else f"{truncate(text, MAX_TEXT)}\u2026"


def _cut_value(value: Any) -> Any:
    """A JSON value if it is small enough, else its beginning as text."""
    shown = show(value, MAX_VALUE)
    return value if len(shown) <= MAX_VALUE else shown
