from __future__ import annotations

from itertools import product
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gate.comparison.significance import (
    DIGITS,
    DRAWS,
    _sampled_paired_p,
    mcnemar,
    paired_permutation_p,
    pairs_for_scores,
)
from evalgate.gate.comparison.trials_that_decide import pairs_for_flip

MOVES = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=9)
LONG = [0.1 + sqrt(place) / 7 for place in range(18)]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ((0, 0), 1.0),
        ((1, 0), 1.0),
        ((2, 2), 1.0),
        ((2, 3), 1.0),
        ((4, 0), 0.125),
        ((5, 0), 0.0625),
        ((6, 0), 0.03125),
        ((1, 8), 0.0390625),
        ((2, 10), 0.0385742),
    ],
)
def test_mcnemar_of_known_pairs(changed, expected):
    assert mcnemar(*changed) == mcnemar(*changed[::-1]) == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_binomial_test(one_way, other_way):
    changed, fewer = one_way + other_way, min(one_way, other_way)
    exact = min(1.0, 2 * sum(comb(changed, x) for x in range(fewer + 1)) / 2**changed)
    assert mcnemar(one_way, other_way) == pytest.approx(exact, abs=1e-8)


def test_mcnemar_of_a_million_pairs_is_quick_and_finite():
    assert mcnemar(0, 1_000_000) == 0.0
    assert mcnemar(498_000, 502_000) == pytest.approx(6.35e-5, rel=1e-2)


@given(MOVES)
def test_paired_permutation_equals_counting_every_choice_of_signs(moves):
    scaled = [round(move * 100) for move in moves]
    choices = [abs(sum(map(int.__mul__, scaled, signs))) for signs in product((1, -1), repeat=len(scaled))]
    extreme = sum(total >= abs(sum(scaled)) for total in choices)
    assert paired_permutation_p(moves) == pytest.approx(extreme / len(choices), abs=1e-8)


def test_paired_permutation_does_not_depend_on_sides_or_order():
    for moves in ([0.1, 0.3, -0.2], LONG, [*LONG, *LONG, -5.0]):
        p = paired_permutation_p(moves)
        assert p == paired_permutation_p([-move for move in moves]) == paired_permutation_p(moves[::-1])


def test_paired_permutation_of_equal_pairs_has_p_value_1():
    assert paired_permutation_p([0.0] * 8) == paired_permutation_p([]) == 1.0


def test_paired_permutation_is_sampled_if_counting_is_too_expensive():
    assert paired_permutation_p(LONG) == 1 / (DRAWS + 1)


def test_paired_permutation_of_many_pairs_follows_the_normal_distribution():
    moves = [(-1) ** (place % 5) * sqrt(place + 1) / 7 for place in range(40)]
    drawn = _sampled_paired_p([abs(round(move * 10**DIGITS)) for move in moves], abs(round(sum(moves) * 10**DIGITS)))
    assert 0.001 < paired_permutation_p(moves) == pytest.approx(drawn, abs=0.02)


def test_six_pairs_can_decide_and_five_can_not():
    assert pairs_for_scores(0.05) == 6
    assert pairs_for_scores(0.03) == 7
    assert paired_permutation_p([0.1] * 6) == 0.03125


@pytest.mark.parametrize(
    ("one_way", "other_way", "pairs", "needed"),
    [(4, 0, 4, 6), (2, 0, 4, 11), (1, 1, 4, None), (0, 0, 4, None)],
)
def test_number_of_pairs_needed_at_the_current_rate(one_way, other_way, pairs, needed):
    assert pairs_for_flip(one_way, other_way, pairs, 0.05) == needed
    assert pairs_for_flip(other_way, one_way, pairs, 0.05) == needed
