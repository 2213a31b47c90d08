"""`response_completeness`: compares each answer with the golden one, see measures.text.response_quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.response_quality import quality
from evalgate.measures.text.text_similarity import MAX_TEXT
from evalgate.measures.values.json_values import shorten
from evalgate.scoring.golden.dimension_finding import DimensionFinding, DimensionIssue
from evalgate.scoring.golden.levels import severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.run.dimension import Dimension
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.scoring.golden.turns import TurnPair

DIMENSION: Dimension = "response_completeness"
NOTHING = "the golden has no response to compare with"


def response_completeness(rules: GoldenRules, beside: Sequence[TurnPair]) -> DimensionFinding:
    """Scores the quality of each answer; a turn that is missing or extra, or has no answer, scores 0."""
    has_any = any(rules.golden.golden_responses)
    steps: list[float | None] = []
    findings: list[DimensionIssue] = []
    for at, each in enumerate(beside):
        score = _score(each, is_strict=rules.is_strict) if has_any else None
        steps.append(score)
        findings += [
            DimensionIssue(at, message, evidence) for message, evidence in _wrong(each, score, rules)
        ]
    return DimensionFinding(steps, findings, NOTHING)


def _score(step: TurnPair, *, is_strict: bool) -> float | None:
    if step.is_extra or step.is_missing:
        return 0.0
    if not step.response:
        return None
    answer = step.actual.response if step.actual is not None else None
    return quality(answer[:MAX_TEXT], step.response, strict=is_strict) if answer else 0.0


def _wrong(step: TurnPair, score: float | None, rules: GoldenRules) -> Iterator[tuple[str, str | None]]:
    answer = step.actual.response if step.actual is not None else None
    if score is None or step.is_extra or step.is_missing:
        return
    if not answer:
        yield "there is no answer", None
    elif severity(DIMENSION, score, rules.passing_score, rules.warning_threshold) not in (None, "info"):
        said = "is not the golden one" if rules.is_strict else f"is like the golden one by {score:.2f}"
        yield f"the answer {said}", shorten(answer, 200)
