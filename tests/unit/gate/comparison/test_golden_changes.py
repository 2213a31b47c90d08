"""How a golden changed since the baseline."""

from __future__ import annotations

import pytest

from evalgate.gate.comparison.golden_changes import find_golden_status, regression_status
from evalgate.models.comparison.comparison import Change


@pytest.mark.parametrize(
    ("current", "previous", "status"),
    [
        (0.80, 0.90, "degradation"),
        (0.95, 0.85, "improvement"),
        (0.88, None, "pass"),
        (0.82, None, "fail"),
        (0.85, None, "pass"),
        (0.80, 0.82, "fail"),  # failing before, and little lower
        (0.80, 0.85, "degradation"),  # passed before
        (0.70, 0.84, "degradation"),  # failing before, much higher
        (0.84, 0.50, "fail"),  # much better, and failing still: the first rule that applies
        (0.86, 0.84, "improvement"),  # crossed
        (0.90, 0.85, "pass"),  # 0.90 - 0.85 is not more than 0.05
        (0.85, 0.90, "pass"),
        (0.86, 0.92, "degradation"),
        (0.90, 0.90, "pass"),
    ],
)
def test_status_of_a_golden_compared_with_the_baseline(current, previous, status):
    assert regression_status(current, previous) == status


def test_threshold_and_passing_score__come_from_the_suite():
    assert regression_status(0.80, 0.90, passing=0.7, threshold=0.2) == "pass"
    assert regression_status(0.80, 0.70, passing=0.9, threshold=0.01) == "fail"


@pytest.mark.parametrize(
    ("score", "kind", "status"),
    [(0.86, "inconclusive", "pass"), (0.80, "inconclusive", "fail"), (0.80, "regressed", "degradation")],
)
def test_move_that_is_not_significant__is_no_change(score, kind, status):
    assert find_golden_status(score, 0.95, Change(kind, "")) == status


def test_nothing_scored__has_no_status():
    assert find_golden_status(None, 0.9, None) is None
