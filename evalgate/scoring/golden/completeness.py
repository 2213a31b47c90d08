"""`response_completeness`: compares each answer with the golden one, see measures.text.text_similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.text.text_similarity import MAX_TEXT, measure_quality, serialised_object
from evalgate.measures.values.json_values import shorten
from evalgate.models.run.golden import Issue
from evalgate.scoring.golden.dimension_finding import DimensionFinding, DimensionIssue
from evalgate.scoring.golden.rules import severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.run.golden import Dimension
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.scoring.golden.turns import TurnPair

DIMENSION: Dimension = "response_completeness"
NO_GOLDEN_RESPONSE = "the golden has no response to compare with"


def response_completeness(rules: GoldenRules, turn_pairs: Sequence[TurnPair]) -> DimensionFinding:
    """Scores the quality of each answer; a turn that is missing or extra, or has no answer, scores 0."""
    has_any = any(rules.golden.golden_responses)
    steps: list[float | None] = []
    findings: list[DimensionIssue] = []
    for index, pair in enumerate(turn_pairs):
        score = _score_turn(pair, is_strict=rules.is_strict) if has_any else None
        steps.append(score)
        findings += [
            DimensionIssue(index, message, evidence) for message, evidence in _find_problems(pair, score, rules)
        ]
    return DimensionFinding(steps, findings, NO_GOLDEN_RESPONSE)


def _score_turn(pair: TurnPair, *, is_strict: bool) -> float | None:
    if pair.is_extra or pair.is_missing:
        return 0.0
    if not pair.response:
        return None
    answer = pair.actual.response if pair.actual is not None else None
    return measure_quality(answer[:MAX_TEXT], pair.response, strict=is_strict) if answer else 0.0


def _find_problems(pair: TurnPair, score: float | None, rules: GoldenRules) -> Iterator[tuple[str, str | None]]:
    answer = pair.actual.response if pair.actual is not None else None
    if score is None or pair.is_extra or pair.is_missing:
        return
    if not answer:
        yield "there is no answer", None
    elif severity(DIMENSION, score, rules.passing_score, rules.warning_threshold) not in (None, "info"):
        difference = "differs from the golden" if rules.is_strict else f"is only {score:.2f} similar to the golden"
        yield f"the answer {difference}", shorten(answer, 200)


def find_serialised_answers(turn_pairs: Sequence[TurnPair]) -> Iterator[Issue]:
    """One issue for each such answer."""
    for index, pair in enumerate(turn_pairs):
        answer = pair.actual.response if pair.actual is not None else None
        found = serialised_object(answer) if answer else None
        if answer and found and not (pair.response and serialised_object(pair.response)):
            message = f"expected prose, the answer shows {found}"
            yield Issue("completeness", "error", message, shorten(answer, 200), index)
