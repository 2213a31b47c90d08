from __future__ import annotations

import pytest

from evalgate.gate.common.wording import (
    format_change,
    format_count,
    format_share,
    format_verdict,
)
from evalgate.scoring.wording import format_p_value


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (0.91, 0.7, "0.91 -> 0.70 (\u22120.21)"),
        (0.9583333333, 0.8333333333, "0.96 -> 0.83 (\u22120.13)"),
        (0.8951, 0.9002, "0.8951 -> 0.9002 (+0.0051)"),
        (0.7, 0.91, "0.70 -> 0.91 (+0.21)"),
        (0.8, 0.798, "0.8 -> 0.798 (\u22120.002)"),
    ],
)
def test_move_shows_enough_digits(before, now, expected):
    assert format_change(before, now) == expected


@pytest.mark.parametrize(("p", "expected"), [(0.028571429, "0.029"), (1.0, "1"), (0.0, "< 0.001"), (0.0004, "< 0.001")])
def test_chance_never_reads_as_zero(p, expected):
    assert format_p_value(p) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.35, "+35%"), (0.3512, "+35.1%"), (-0.5, "-50%"), (0.004, "+0.4%"), (1e300, "+1e+302%")],
)
def test_share_is_a_short_signed_percentage(value, expected):
    assert format_share(value) == expected


def test_verdicts_and_counts_are_formatted():
    assert format_verdict("HARD_FAIL") == "HARD FAIL"
    assert format_count(1, "scenario") == "1 scenario"
    assert format_count(2, "scenario") == "2 scenarios"
