"""Scores one trace: the weighted mean of its assertions, and a status that required assertions decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import DIGITS, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run.run import AssertionResult, TrialStatus

SCORED = frozenset({"passed", "failed"})
"""Outcomes whose score enters the mean; an assertion that could not be checked enters it as 0."""
ACCEPTED = frozenset({"passed", "skipped"})
"""Outcomes that a required assertion may have."""


def score_trial(assertions: Sequence[AssertionResult], threshold: float) -> tuple[TrialStatus, float | None]:
    """Status and score in [0, 1] of one trace; the score is None if nothing is left to score.

    `skipped` is left out, and so is `not_evaluable` if its suite excludes it (`counts` is False). A trial
    that ended in an error scores 0, whatever else it got right.
    """
    scores, weights, failed_required = [], [], []
    is_perfect = True
    for found in assertions:
        outcome, score = found.outcome, found.score
        if outcome != "passed":
            if found.required and outcome not in ACCEPTED:
                failed_required.append(outcome)
            if outcome == "skipped" or not found.counts:
                continue
            if outcome not in SCORED:
                score = 0.0
        if score != 1:
            is_perfect = False
        scores.append(score)
        weights.append(found.weight)
    mean = 1.0 if is_perfect and any(weights) else weighted_mean(scores, weights)
    if "error" in failed_required:
        return "error", 0.0
    if failed_required:
        return "hard_fail", mean
    if mean is None:
        return "not_evaluable", None
    return ("passed" if mean >= round(threshold, DIGITS) else "failed"), mean
