"""One trace judged: its score is the weighted mean of what counts, its status what required checks allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.means import DIGITS, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.run import AssertionResult, TrialStatus

SCORED = frozenset({"passed", "failed"})
"""Outcomes whose own score enters the mean; what could not be checked enters it as 0."""


def score_trial(assertions: Sequence[AssertionResult], threshold: float) -> tuple[TrialStatus, float | None]:
    """Status and score in [0, 1] of one trace; the score is None where nothing is left to score.

    `skipped` is left out, and so is `not_evaluable` where its suite says so (`counts` is False).
    """
    counting = [
        (found.score if found.outcome in SCORED else 0.0, found.weight)
        for found in assertions
        if found.counts and found.outcome != "skipped"
    ]
    score = weighted_mean(counting)
    broken = {found.outcome for found in assertions if found.required} - {"passed", "skipped"}
    if "error" in broken:
        return "error", score
    if broken:
        return "hard_fail", score
    if score is None:
        return "not_evaluable", None
    return ("passed" if score >= round(threshold, DIGITS) else "failed"), score
