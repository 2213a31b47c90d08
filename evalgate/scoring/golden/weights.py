"""The weights of a golden's dimensions, and the overall score."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from evalgate.measures.numeric.means import DIGITS, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.run.golden import Dimension, IssueCategory

TOLERANCE = 1e-6
CATEGORY: Mapping[Dimension, IssueCategory] = {
    "identity_correctness": "identity",
    "memory_precision": "memory",
    "memory_recall": "memory",
    "tool_success_rate": "tools",
    "tone_adherence": "tone",
    "refusal_correctness": "refusal",
    "factual_accuracy": "accuracy",
    "response_completeness": "completeness",
}
"""The dimensions with their categories; the two of memory share its weight."""


class Weights(NamedTuple):
    """Shares of the overall score, 1 in total."""

    identity: float = 0.15
    memory: float = 0.20
    tools: float = 0.25
    tone: float = 0.15
    refusal: float = 0.10
    accuracy: float = 0.10
    completeness: float = 0.05

    @property
    def problem(self) -> str | None:
        """Why these weights are invalid, or None."""
        if not all(0 <= weight <= 1 for weight in self):
            return "weights must be from 0 to 1"
        total = fsum(self)
        return None if abs(total - 1) <= TOLERANCE else f"the weights must sum to 1, not to {total:.6g}"

    def dimension_weight(self, dimension: Dimension) -> float:
        """The weight of one dimension."""
        share: float = getattr(self, CATEGORY[dimension])
        return share / list(CATEGORY.values()).count(CATEGORY[dimension])


def compute_overall_score(scores: Mapping[Dimension, float | None], weights: Weights | None = None) -> float | None:
    """The sum of score times weight, in [0, 1].

    The weight of a dimension without a score is spread over the others; None if no dimension has a score.
    """
    weights = weights or Weights()
    judged = {name: score for name, score in scores.items() if score is not None}
    mean = weighted_mean(list(judged.values()), [weights.dimension_weight(name) for name in judged])
    return None if mean is None else max(0.0, min(1.0, mean))


def mean_over_turns(scores: Sequence[float | None], weights: Sequence[float] | None = None) -> float | None:
    """The weighted mean of the turns that have a score; None if no turn has one."""
    turn_weights = [1.0] * len(scores) if weights is None else weights
    judged = [(score, weight) for score, weight in zip(scores, turn_weights, strict=True) if score is not None]
    return weighted_mean([score for score, _ in judged], [weight for _, weight in judged])


def reaches(score: float, limit: float) -> bool:
    """Whether a score is at least the limit, with both rounded."""
    return round(score, DIGITS) >= round(limit, DIGITS)
