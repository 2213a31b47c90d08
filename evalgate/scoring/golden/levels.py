"""Words for scores: the level of a score, and the severity of a low one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.goldens.regression_suite import PASSING_SCORE
from evalgate.scoring.golden.weights import reaches

if TYPE_CHECKING:
    from evalgate.models.run.dimension import Dimension
    from evalgate.models.run.evaluation import Level, Severity

WARNING_THRESHOLD = 0.75
_LEVELS: tuple[tuple[float, Level], ...] = (
    (0.95, "excellent"),
    (0.85, "good"),
    (0.75, "fair"),
    (0.60, "poor"),
)
_NEVER_CRITICAL = frozenset({"tone_adherence", "response_completeness"})


def level(score: float) -> Level:
    """The level of a score.

    >>> [level(score) for score in (0.98, 0.87, 0.76, 0.62, 0.50)]
    ['excellent', 'good', 'fair', 'poor', 'failing']
    """
    return next((word for least, word in _LEVELS if reaches(score, least)), "failing")


def severity(
    dimension: Dimension, score: float, passing: float = PASSING_SCORE, warning: float = WARNING_THRESHOLD
) -> Severity | None:
    """The severity of a score; None for a full one.

    A score of 0 is critical, except for tone and for words that differ from the golden ones.
    """
    if reaches(score, 1.0):
        return None
    if reaches(score, passing):
        return "info"
    if reaches(score, warning):
        return "warning"
    return "error" if score > 0 or dimension in _NEVER_CRITICAL else "critical"
