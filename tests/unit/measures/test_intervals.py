from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.numeric.estimates import (
    mean_interval,
    paired_rates_interval,
    student_point,
    wilson_interval,
)


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
    assert wilson_interval(passed, total) == pytest.approx(expected, abs=5e-4)


def test_wilson_interval_without_trials_is_unknown():
    assert wilson_interval(0, 0) is None


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_interval_lies_in_the_unit_range_and_holds_the_share(counts):
    passed, total = counts
    interval = wilson_interval(passed, total)
    assert interval is not None
    low, high = interval
    assert 0 <= low <= passed / total + 1e-9
    assert passed / total - 1e-9 <= high <= 1
    assert low < high


@pytest.mark.parametrize(
    ("kept", "lost", "won", "total", "expected"),
    [
        (36, 12, 2, 50, (-0.3404, -0.0569)),  # R. G. Newcombe (1998), table II, method 10
        (2, 0, 0, 50, (-0.0757, 0.0757)),
        (0, 3, 0, 3, (-1.0, -0.2059)),
    ],
)
def test_interval_of_a_move_of_known_pass_rates(kept, lost, won, total, expected):
    assert paired_rates_interval(kept, lost, won, total) == pytest.approx(expected, abs=5e-4)


TABLES = st.tuples(*[st.integers(0, 60)] * 4).filter(any)


@given(TABLES)
def test_interval_of_a_move_holds_it_and_mirrors_where_sides_are_swapped(table):
    kept, lost, won, _ = table
    total = sum(table)
    low, high = paired_rates_interval(kept, lost, won, total)
    assert -1 <= low <= (won - lost) / total + 1e-9
    assert (won - lost) / total - 1e-9 <= high <= 1
    assert paired_rates_interval(kept, won, lost, total) == (-high, -low)


def test_interval_of_a_move_of_nothing_is_unknown():
    assert paired_rates_interval(0, 0, 0, 0) is None


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (10, 2.2281), (100, 1.9840)],
)
def test_students_points_are_those_of_the_tables(degrees, expected):
    assert student_point(degrees) == pytest.approx(expected, abs=0.03)


def test_interval_of_a_mean_move():
    assert mean_interval([0.1, 0.2, 0.3, 0.0, -0.1]) == pytest.approx((-0.0963, 0.2963), abs=1e-3)
    assert mean_interval([0.25, 0.25]) == (0.25, 0.25)
    assert mean_interval([1.0, -1.0]) == (-1.0, 1.0)
    assert mean_interval([0.5]) is None
