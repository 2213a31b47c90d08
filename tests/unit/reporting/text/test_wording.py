from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.reporting.text import wording


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0%"),
        (0.001, "<1%"),
        (0.005, "<1%"),
        (0.995, ">99%"),
        (0.5, "50%"),
        (0.994, "99%"),
        (0.999, ">99%"),
        (1, "100%"),
        (None, "unknown"),
    ],
)
def test_percent__share__is_whole_and_never_falsely_certain(share, words):
    assert wording.percent(share) == words


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_percent_and_score__not_certain__never_read_as_certain(value):
    assert wording.percent(value) not in ("0%", "100%")
    assert wording.score(value) not in ("0.00", "1.00")


@pytest.mark.parametrize(
    ("delta", "words"), [(0.12, "+0.12"), (-0.5, "\u22120.50"), (0.001, "+<0.01"), (0, ""), (None, "")]
)
def test_points__move_of_a_score__is_signed(delta, words):
    assert wording.points(delta) == words


@pytest.mark.parametrize(
    ("now", "delta", "words"),
    [
        (0.8333333333, -0.125, "\u22120.13"),  # beside 0.96 and 0.83
        (0.875, -0.125, "\u22120.12"),
        (0.901, 0.002, "+<0.01"),
        (0.899, -0.001, "\u2212<0.01"),
        (1.0, 0.0416666667, "+0.04"),
    ],
)
def test_a_move_is_the_difference_of_the_scores_as_they_are_shown(now, delta, words):
    assert wording.points(delta, now) == words


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0.0000123456, "0.0000123 USD"),
        (8.8155, "8.82 USD"),
        (0.0123, "0.0123 USD"),
        (0.00001, "0.00001 USD"),
        (0.0, "0.00 USD"),
        (None, "unknown"),
        (1234.5, "1,234.50 USD"),
    ],
)
def test_dollars__amount__keeps_significant_digits(amount, words):
    assert wording.dollars(amount) == words


@pytest.mark.parametrize(("amount", "words"), [(2.04, "2.0 s"), (0.35, "350 ms"), (0.0, "0.0 s"), (None, "unknown")])
def test_seconds__time__has_a_suitable_unit(amount, words):
    assert wording.seconds(amount) == words


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (1.0, 1.35, "+35%"),
        (2.0, 1.0, "\u221250%"),
        (1.0, 3.5, "+250%"),
        (1.0, 1.0, ""),
        (0.0, 1.0, ""),
        (None, 1.0, ""),
        (1000.0, 1001.0, "+<1%"),
    ],
)
def test_relative__two_amounts__give_a_signed_share(before, now, words):
    assert wording.relative(before, now) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "less than a day old"),
        (0, "less than a day old"),
        (86_399, "less than a day old"),
        (86_400, "1 day old"),
        (200_000, "2 days old"),
    ],
)
def test_age__seconds__are_shown_in_whole_days(seconds, words):
    assert wording.age(seconds) == words


@pytest.mark.parametrize(
    ("parts", "words"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_listed__parts__read_as_a_sentence(parts, words):
    assert wording.join_words(parts) == words


MISSING = "expected `find` second, but it was not called"


@pytest.mark.parametrize(
    ("reasons", "listed"),
    [
        (["after call 2 (`a`)", "after call 3 (`a`)"], ["after call 2 (`a`)"]),
        (["only `a`, `b` were", "only `b`, `a` were"], ["only `a`, `b` were"]),
        (["only `a`, `b` were", "only `a`, `c` were"], ["1 of 2: only `a`, `b` were", "1 of 2: only `a`, `c` were"]),
        (["`a`: one; `b`: two", "`b`: two; `a`: one"], ["`a`: one; `b`: two"]),
        (["`a`: one; `b`: two", "`a`: two; `b`: one"], ["1 of 2: `a`: one; `b`: two", "1 of 2: `a`: two; `b`: one"]),
        ([f"{MISSING} (got `a`)", f"{MISSING} (got `b`)"], [f"{MISSING} (got `a` or `b`)"]),
        ([f"{MISSING} (other calls: `a`)", MISSING], [MISSING]),
        ([f"{MISSING} (other calls: `a`, `b`)", f"{MISSING} (other calls: `b`)"], [f"{MISSING} (other calls: `b`)"]),
        (["expected `a` first, got `b`", "expected `a` first, got `c`"], ["expected `a` first, got `b` or `c`"]),
        (
            ["expected `a`, got `1`", "expected `a`, got `2`"],
            ["1 of 2: expected `a`, got `1`", "1 of 2: expected `a`, got `2`"],
        ),
    ],
)
def test_reasons_are_alike__that_differ_in_numbers_order_or_the_call_in_place_of_a_missing_one(reasons, listed):
    assert wording.list_reasons(reasons, 2, 2) == listed
