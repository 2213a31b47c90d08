from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.numeric.means import mean_amount, mean_score, weighted_mean

SCORES = st.floats(0, 1)
WEIGHTS = st.floats(0, sys.float_info.max)


def test_score_mean_of_nothing_is_unknown():
    assert mean_score([]) is None


def test_score_mean_is_rounded_where_binary_fractions_would_show():
    assert mean_score([0.1, 0.2]) == 0.15


def test_amount_with_an_unknown_part_is_unknown():
    assert mean_amount([0.1, None]) is None
    assert mean_amount([]) is None


def test_amount_mean_keeps_very_small_amounts():
    assert mean_amount([1e-12, 3e-12]) == pytest.approx(2e-12)


def test_amount_mean_of_the_largest_numbers_does_not_overflow():
    assert mean_amount([sys.float_info.max] * 3) == pytest.approx(sys.float_info.max)
    assert mean_amount([sys.float_info.max, sys.float_info.max, 1.0]) == pytest.approx(sys.float_info.max / 3 * 2)


def test_weighted_mean_counts_by_weight():
    assert weighted_mean([1.0, 0.0], [3.0, 1.0]) == 0.75


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, 0.5]])
def test_weighted_mean_without_weight_is_unknown(scores):
    assert weighted_mean(scores, [0.0] * len(scores)) is None


@given(st.lists(st.tuples(SCORES, WEIGHTS), max_size=8))
def test_weighted_mean_lies_between_the_scores_whatever_the_weights(pairs):
    scores, weights = [score for score, _ in pairs], [weight for _, weight in pairs]
    found = weighted_mean(scores, weights)
    weighing = [score for score, weight in pairs if weight > 0]
    if weighing:
        assert found is not None
        assert min(weighing) - 1e-9 <= found <= max(weighing) + 1e-9
        assert found == weighted_mean(scores[::-1], weights[::-1])
    else:
        assert found is None
