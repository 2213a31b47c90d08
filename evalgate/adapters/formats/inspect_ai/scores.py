"""Reads the scores that Inspect's scorers wrote into a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.fields import mapping, number, required_text, text
from evalgate.adapters.formats.core.strict_json import make_printable

if TYPE_CHECKING:
    from evalgate.models.trace.trace import TraceScore

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Correct, partial, incorrect, no answer: the numbers that Inspect's own metrics use for them."""


def read_scores(sample: dict[str, Any]) -> list[TraceScore]:
    """One score per scorer, or per key if a scorer gives several."""
    scores = mapping(sample.get("scores"), "scores")
    if not scores and sample.get("score") is not None:
        scores = {"score": sample["score"]}
    found: list[TraceScore] = []
    for name, value in scores.items():
        path = f"scores.{make_printable(name)}"
        score = mapping(value, path)
        explanation = text(score.get("explanation"), f"{path}.explanation")
        for label, grade in _list_grades(name, score.get("value")):
            found.append(_build_score(label, grade, explanation, path))
    return found


def _list_grades(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"{name}.{key}", inner) for key, inner in value.items()]
    if isinstance(value, list):
        return [(f"{name}.{position}", inner) for position, inner in enumerate(value)]
    return [(name, value)]


def _build_score(name: str, grade: Any, explanation: str | None, path: str) -> TraceScore:
    label = grade if isinstance(grade, str) else None
    if isinstance(grade, bool):
        grade = float(grade)
    elif isinstance(grade, str | list | dict):
        grade = GRADES.get(grade) if isinstance(grade, str) else None
    return {
        "name": required_text(name, path),
        "score_value": number(grade, f"{path}.value"),
        "score_label": label,
        "explanation": explanation,
        "source": None,
    }
