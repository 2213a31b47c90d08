"""The regression status of a golden: how it changed since the baseline, in one word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.measures.numeric.means import DIGITS
from evalgate.models.goldens.regression_suite import PASSING_SCORE
from evalgate.scoring.golden.weights import reaches

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import Change
    from evalgate.models.run.evaluation import RegressionStatus

THRESHOLD = 0.05


def regression_status(
    current: float, previous: float | None, passing: float = PASSING_SCORE, threshold: float = THRESHOLD
) -> RegressionStatus:
    """The status of a score compared with the baseline's; differences are rounded to 1e-9.

    >>> regression_status(0.80, 0.90), regression_status(0.95, 0.85), regression_status(0.90, 0.88)
    ('degradation', 'improvement', 'pass')
    """
    passes, passed = reaches(current, passing), previous is not None and reaches(previous, passing)
    drop = 0.0 if previous is None else round(previous - current, DIGITS)
    limit = round(threshold, DIGITS)
    if not passes and not passed and drop <= limit:
        return "fail"
    if previous is None:
        return "pass"
    if drop > limit or (passed and not passes):
        return "degradation"
    return "improvement" if -drop > limit or (passes and not passed) else "pass"


def status_of(
    score: float | None,
    previous: float | None,
    change: Change | None,
    passing: float = PASSING_SCORE,
    threshold: float = THRESHOLD,
) -> RegressionStatus | None:
    """The status of a scenario's score; a move that the trials do not support counts as no move.

    None if nothing was scored.
    """
    if score is None:
        return None
    found = regression_status(score, previous, passing, threshold)
    if found in ("degradation", "improvement") and change is not None and change.kind == "inconclusive":
        return "pass" if reaches(score, passing) else "fail"
    return found
