from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gate.comparison.significance import (
    _normal_p,
    fisher_exact,
    permutation_p,
    trials_for_scores,
)
from evalgate.gate.comparison.trials_that_decide import trials_for_flip
from evalgate.measures.numeric.boschloo import boschloo_exact, rejected_tables

SIDE = st.integers(1, 14).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))
SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), min_size=2, max_size=5)


def fisher_by_counting(a_passed, a_total, b_passed, b_total):
    passed = a_passed + b_passed
    tables = [
        comb(a_total, x) * comb(b_total, passed - x) for x in range(max(0, passed - b_total), min(passed, a_total) + 1)
    ]
    observed = comb(a_total, a_passed) * comb(b_total, b_passed)
    return sum(table for table in tables if table <= observed) / sum(tables)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ((4, 4, 0, 4), 0.028571),
        ((2, 2, 0, 2), 0.333333),
        ((3, 3, 0, 3), 0.1),
        ((3, 4, 1, 4), 0.485714),  # the lady tasting tea
        ((1, 10, 11, 14), 0.002759),
        ((8, 10, 1, 6), 0.034965),
        ((5, 5, 5, 5), 1.0),
        ((0, 3, 0, 9), 1.0),
    ],
)
def test_fisher_of_known_tables(table, expected):
    assert fisher_exact(*table) == pytest.approx(expected, abs=1e-6)


@given(SIDE, SIDE)
def test_fisher_equals_counting_every_table(a, b):
    assert fisher_exact(*a, *b) == pytest.approx(fisher_by_counting(*a, *b), abs=1e-8)


@given(SIDE, SIDE)
def test_fisher_does_not_depend_on_the_order_of_sides(a, b):
    assert fisher_exact(*a, *b) == fisher_exact(*b, *a)


def test_fisher_of_a_million_trials_is_finite():
    assert fisher_exact(500_000, 1_000_000, 499_000, 1_000_000) == pytest.approx(0.1577, abs=1e-3)
    assert fisher_exact(1_000_000, 1_000_000, 0, 1_000_000) == 0.0


@given(SCORES, SCORES)
def test_permutation_equals_counting_every_split(a, b):
    pool = [round(value * 100) for value in (*a, *b)]

    def distance(chosen):
        return abs(len(pool) * sum(chosen) - len(a) * sum(pool))

    observed = distance(round(value * 100) for value in a)
    splits = [distance(chosen) >= observed for chosen in combinations(pool, len(a))]
    assert permutation_p(a, b) == pytest.approx(sum(splits) / len(splits), abs=1e-8)


@pytest.mark.parametrize("size", [3, 12, 60])
def test_permutation_does_not_depend_on_order_or_sides_also_if_sampled(size):
    a = [(7 * step % 101) / 101 for step in range(size)]
    b = [(5 * step % 103) / 103 for step in range(size + 3)]
    expected = permutation_p(a, b)
    assert permutation_p(b[::-1], a[::-1]) == expected
    assert 0 < expected <= 1


def test_permutation_of_equal_scores_has_p_value_1():
    assert permutation_p([0.7] * 4, [0.7] * 4) == 1.0
    assert permutation_p([0.7] * 400, [0.7] * 400) == 1.0


def test_permutation_detects_a_clear_drop_with_few_sampled_and_many_trials():
    for size in (4, 12, 60):
        noise = [step * 0.000_731 for step in range(size)]
        high, low = [0.9 + step for step in noise], [0.2 + step for step in noise]
        assert permutation_p(high, low) < 0.03


def test_sampled_permutation_is_never_zero():
    uneven = [(37 * step * step % 997) / 100_000 for step in range(24)]
    high, low = [0.9 + step for step in uneven[:12]], [0.2 + step for step in uneven[12:]]
    assert permutation_p(high, low) == 0.001


def test_normal_distribution_has_the_variance_of_sampling_without_replacement():
    assert _normal_p([0, 1, 2, 3], 2, 8) == pytest.approx(0.1213, abs=1e-4)


def test_permutation_sampled_and_normal_agree_with_each_other_about_no_drop():
    for size in (14, 60):
        values = [(37 * step % 211) / 211 for step in range(2 * size)]
        assert permutation_p(values[::2], values[1::2]) > 0.05


def test_permutation_of_two_against_two_can_never_reach_five_percent():
    assert permutation_p([1.0, 0.99], [0.0, 0.01]) == pytest.approx(1 / 3, abs=1e-8)


@pytest.mark.parametrize(("alpha", "trials"), [(0.05, 4), (0.5, 2), (0.01, 5), (0.001, 7)])
def test_number_of_trials_that_scores_need(alpha, trials):
    assert trials_for_scores(alpha) == trials


def test_number_of_trials_that_a_flip_needs_at_the_current_rate():
    assert trials_for_flip(2, 2, 0, 2, 0.05) == 3
    assert trials_for_flip(0, 2, 2, 2, 0.05) == 3
    assert trials_for_flip(4, 4, 2, 4, 0.05) == 7
    assert trials_for_flip(2, 2, 5, 10, 0.05) == 7


@pytest.mark.parametrize(
    ("passed", "of", "then"), [(3, 3, 2), (4, 4, 3), (3, 4, 1), (8, 8, 6), (5, 6, 2), (6, 8, 2), (1, 4, 0)]
)
def test_half_of_what_could_be_recorded_decides_with_the_number_that_is_named(passed, of, then):
    """A draw of 400 runs; 0.07 is more than twice their standard error."""
    chance, needed = Random(f"{passed} {of} {then}"), trials_for_flip(passed, of, then, of, 0.05)  # noqa: S311

    def decided(trials):
        sides = [
            [sum(chance.random() * of < rate for _ in range(trials)) for _ in range(400)] for rate in (passed, then)
        ]
        return sum(boschloo_exact(a, trials, b, trials) <= 0.05 for a, b in zip(*sides, strict=True)) / 400

    assert decided(needed) > 0.43
    assert needed == of + 1 or decided(int(needed * 0.9)) < 0.57


@pytest.mark.parametrize("of", [63, 64, 80, 150, 250])
def test_no_number_is_named_that_was_recorded_already_or_is_above_the_most(of):
    assert trials_for_flip(of // 2, of, of // 2 + 1, of, 0.05) is None
    assert trials_for_flip(of, of, 0, of, 0.05) == (64 if of == 63 else None)


def test_advice_needs_few_tables():
    rejected_tables.cache_clear()
    trials_for_flip(29, 30, 20, 30, 0.0001)
    assert rejected_tables.cache_info().misses <= 8


def test_flip_without_a_difference_in_passes_has_no_number_of_trials():
    assert trials_for_flip(3, 4, 3, 4, 0.05) is None
