"""One trace judged against its golden, in the form that results store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.measures.values.json_values import cut, show
from evalgate.models.run.evaluation import TurnResult
from evalgate.models.run.golden_result import GoldenTrial
from evalgate.scoring.golden.judging import judged

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace
    from evalgate.scoring.golden.judging import JudgedGolden
    from evalgate.scoring.golden.rules import GoldenRules

MOST_TURNS = 200
MOST_ISSUES = 100
MOST_VALUES = 50
"""Memories, and results of tools, that are kept for each turn."""
MAX_TEXT, MAX_VALUE = 10_000, 2_000
"""Characters of a message, and of such a value, that are kept."""


def golden_trial(rules: GoldenRules, trace: Trace) -> GoldenTrial:
    """The dimensions, turns and issues of one trace, within bounds."""
    found = judged(rules, trace)
    return GoldenTrial(
        {name: each.score for name, each in found.dimensions.items()},
        [_turn(found, at) for at in range(min(len(found.beside), MOST_TURNS))],
        list(found.issues[:MOST_ISSUES]),
        [each.step.golden for each in found.beside[:MOST_TURNS]],
        [at for at, each in enumerate(found.beside[:MOST_TURNS]) if each.is_missing],
    )


def _turn(found: JudgedGolden, at: int) -> TurnResult:
    step = found.beside[at]
    actual = step.actual
    scores: dict[str, float | None] = {
        name: each.steps[at] for name, each in found.dimensions.items() if each.steps
    }
    issues = tuple(issue for issue in found.issues if issue.turn == at)
    texts = _cut(step.user), _cut(actual.response if actual is not None else None), _cut(step.response)
    if actual is None:
        return TurnResult(*texts, scores, issues=issues)
    return TurnResult(
        *texts,
        scores,
        latency_ms=actual.latency_ms,
        tokens=actual.tokens,
        cost=actual.cost,
        retrieved_memories=tuple(_kept(memory.recorded) for memory in actual.memories[:MOST_VALUES]),
        tools_invoked=tuple(call["name"] for call in actual.calls[:MOST_VALUES]),
        tool_results=tuple(_kept(call["result"]) for call in actual.calls[:MOST_VALUES]),
        issues=issues,
        evidence=tuple(issue.evidence for issue in issues if issue.evidence),
    )


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= MAX_TEXT else f"{cut(text, MAX_TEXT)}\u2026"


def _kept(value: Any) -> Any:
    """A JSON value if it is small enough, else its beginning as text."""
    shown = show(value, MAX_VALUE)
    return value if len(shown) <= MAX_VALUE else shown
