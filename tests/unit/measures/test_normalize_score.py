"""Values normalised to the range of a score."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.evaluators.kinds.convergence import normalize_score

FINITE = st.floats(-1e9, 1e9)


@pytest.mark.parametrize(
    ("value", "ends", "expected"),
    [(5, (0, 10), 0.5), (0.4, (0, 1), 0.4), (-1, (0, 1), 0.0), (7, (1, 5), 1.0), (0, (-1, 1), 0.5)],
)
def test_value__is_between_its_ends(value, ends, expected):
    assert normalize_score(value, *ends) == expected


@given(FINITE, FINITE, FINITE)
def test_score__is_bounded_and_grows_with_the_value(value, other, low):
    first, second = sorted((value, other))
    assert 0.0 <= normalize_score(first, low, low + 1.5) <= normalize_score(second, low, low + 1.5) <= 1.0


@pytest.mark.parametrize(("value", "ends"), [(1, (1, 1)), (1, (2, 1)), (float("nan"), (0, 1)), (1, (0, float("inf")))])
def test_no_scale__is_refused(value, ends):
    with pytest.raises(ValueError, match="can't be normalized between"):
        normalize_score(value, *ends)
