import pytest

from evalgate.evaluators.kinds.calls.scheduling import (
    is_moment,
    is_whole,
    looks_like_cron,
    strictly_increasing,
)
from evalgate.measures.values.json_values import is_number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* * * * *", True),
        ("  0   9 * * 1-5 ", True),
        ("0 0 1 jan SUN", True),
        ("0,30 */2 1-15/3 * *", True),
        ("", False),
        ("* * * *", False),
        ("1- * * * *", False),
        (", * * * *", False),
        ("/5 * * * *", False),
        ("999 * * * *", False),
        ("\u0661 * * * *", False),
        ("a b c d e", False),
        ("0 9 * * *" + " " * 300, False),
        (None, False),
        (["* * * * *"], False),
    ],
)
def test_looks_like_cron(text, expected):
    assert looks_like_cron(text) is expected


def test_numbers__are_finite_and_not_booleans():
    assert [is_number(value) for value in (1, -0.5, 10**400, True, "1", None, float("nan"), float("inf"))] == [
        True, True, True, False, False, False, False, False,
    ]  # fmt: skip
    assert [is_whole(value) for value in (1, 2.0, 10**400, 2.5, True, float("inf"))] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_moments__are_not_empty():
    assert all(map(is_moment, ["noon", 0, 1.5, [1], {"at": 1}]))
    assert not any(map(is_moment, ["", " \t", [], {}, None, True, False, float("nan")]))


@pytest.mark.parametrize(
    ("values", "expected"), [([], True), ([1], True), ([1, 2], True), ([1, 1], False), ([2, 1], False)]
)
def test_strictly_increasing(values, expected):
    assert strictly_increasing(values) is expected
