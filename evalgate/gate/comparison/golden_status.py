"""The regression status of a golden: how it changed since the baseline, in one word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.goldens.regression_suite import PASSING_SCORE
from evalgate.scoring.golden.weights import reaches

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import Change
    from evalgate.models.run.evaluation import RegressionStatus

DEFAULT_THRESHOLD = 0.05


def regression_status(
    current: float,
    baseline: float | None,
    passing: float = PASSING_SCORE,
    threshold: float = DEFAULT_THRESHOLD,
) -> RegressionStatus:
    """The status of a score compared with the baseline's; differences are rounded to 1e-9.

    >>> regression_status(0.80, 0.90), regression_status(0.95, 0.85), regression_status(0.90, 0.88)
    ('degradation', 'improvement', 'pass')
    """
    passes, baseline_passes = reaches(current, passing), baseline is not None and reaches(baseline, passing)
    drop = 0.0 if baseline is None else round(baseline - current, DIGITS)
    limit = round(threshold, DIGITS)
    if not passes and not baseline_passes and drop <= limit:
        return "fail"
    if baseline is None:
        return "pass"
    if drop > limit or (baseline_passes and not passes):
        return "degradation"
    return "improvement" if -drop > limit or (passes and not baseline_passes) else "pass"


def find_golden_status(
    score: float | None,
    baseline: float | None,
    change: Change | None,
    passing: float = PASSING_SCORE,
    threshold: float = DEFAULT_THRESHOLD,
) -> RegressionStatus | None:
    """The status of a scenario's score; a move that the trials do not support counts as no move.

    None if nothing was scored.
    """
    if score is None:
        return None
    found = regression_status(score, baseline, passing, threshold)
    if found in ("degradation", "improvement") and change is not None and change.kind == "inconclusive":
        return "pass" if reaches(score, passing) else "fail"
    return found
