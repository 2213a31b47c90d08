from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.measures.intervals import wilson


@pytest.mark.parametrize(
    ("passed", "total", "expected"),
    [
        (34, 40, (0.709, 0.929)),
        (0, 4, (0.0, 0.490)),
        (4, 4, (0.510, 1.0)),
        (1, 2, (0.095, 0.905)),
        (81, 263, (0.255, 0.366)),  # R. G. Newcombe (1998), table I, method 3
    ],
)
def test_wilson_interval_of_known_shares(passed, total, expected):
    assert wilson(passed, total) == pytest.approx(expected, abs=5e-4)


def test_wilson_interval_without_trials_is_unknown():
    assert wilson(0, 0) is None


@settings(deadline=None)
@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_interval_lies_in_the_unit_range_and_holds_the_share(counts):
    passed, total = counts
    interval = wilson(passed, total)
    assert interval is not None
    low, high = interval
    assert 0 <= low <= passed / total + 1e-9
    assert passed / total - 1e-9 <= high <= 1
    assert low < high
