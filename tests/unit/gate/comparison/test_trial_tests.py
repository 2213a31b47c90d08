from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gate.comparison.trial_tests import correct_p_values, corrected_alpha
from evalgate.suite.policy import RegressionPolicy

P_VALUES = st.lists(st.floats(0, 1), max_size=12)
CORRECTIONS = st.sampled_from(["holm", "bh"])


def test_holm_of_known_values():
    assert correct_p_values([0.01, 0.04, 0.03, 0.005], 4, "holm") == [0.03, 0.06, 0.06, 0.02]


def test_benjamini_hochberg_of_known_values():
    assert correct_p_values([0.01, 0.04, 0.03, 0.005], 4, "bh") == [0.02, 0.04, 0.04, 0.02]


def test_unchanged_scenarios_count_as_p_value_1():
    few = [0.01, 0.04, 0.03, 0.005]
    for word in ("holm", "bh"):
        assert correct_p_values(few, 9, word) == correct_p_values([*few, *[1.0] * 5], 9, word)[:4]


def test_a_single_scenario_is_not_corrected():
    assert correct_p_values([0.029], 1, "holm") == correct_p_values([0.029], 1, "bh") == [0.029]
    assert correct_p_values([], 0, "holm") == correct_p_values([], 0, "bh") == []


@given(P_VALUES, st.integers(0, 50), CORRECTIONS)
def test_correction_keeps_the_order_and_lowers_no_p_value(p_values, more, word):
    found = correct_p_values(p_values, len(p_values) + more, word)
    assert all(0 <= raw - 1e-9 <= after <= 1 or raw < 1e-9 for raw, after in zip(p_values, found, strict=True))
    by_raw = [after for _, after in sorted(zip(p_values, found, strict=True))]
    assert by_raw == sorted(by_raw)


@given(P_VALUES, CORRECTIONS, st.randoms())
def test_correction_does_not_depend_on_the_order_of_scenarios(p_values, word, chance):
    places = list(range(len(p_values)))
    chance.shuffle(places)
    there = correct_p_values(p_values, len(p_values), word)
    assert correct_p_values([p_values[place] for place in places], len(p_values), word) == [there[p] for p in places]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(0, 50))
def test_holm_is_never_less_strict_than_benjamini_hochberg(p_values, more):
    family = len(p_values) + more
    pairs = zip(correct_p_values(p_values, family, "holm"), correct_p_values(p_values, family, "bh"), strict=True)
    assert all(holm >= bh for holm, bh in pairs)


def test_level_that_is_always_enough():
    assert corrected_alpha(RegressionPolicy(), {"none": 50}) == 0.05
    assert corrected_alpha(RegressionPolicy(correction="holm"), {"holm": 50}) == pytest.approx(0.001)
    assert corrected_alpha(RegressionPolicy(correction="bh"), {"bh": 1}) == 0.05
    assert corrected_alpha(RegressionPolicy(correction="bh"), {}) == 0.05
