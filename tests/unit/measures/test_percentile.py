from __future__ import annotations

import pytest

from evalgate.measures.numeric.estimates import nearest_rank


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([15, 20, 35, 40, 50], 30, 20),
        ([15, 20, 35, 40, 50], 40, 20),
        ([15, 20, 35, 40, 50], 50, 35),
        ([15, 20, 35, 40, 50], 100, 50),
        ([15, 20, 35, 40, 50], 1, 15),
        (list(range(1, 21)), 95, 19),
        (list(range(1, 101)), 7, 7),
        ([3.5], 95, 3.5),
        ([1.0, 2.0], 50, 1.0),
    ],
)
def test_nearest_rank_is_a_recorded_value(values, percent, expected):
    assert nearest_rank(values, percent) == expected


def test_nearest_rank_leaves_unknown_values_out():
    assert nearest_rank([None, 4.0, None, 2.0], 50) == 2.0


@pytest.mark.parametrize("values", [[], [None, None]])
def test_nearest_rank_of_nothing_known_is_unknown(values):
    assert nearest_rank(values, 50) is None
