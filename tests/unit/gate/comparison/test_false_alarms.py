from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_scenario_outcome

from evalgate.gate.comparison.compare import compare, fisher_tail, mcnemar_tail
from evalgate.gate.comparison.significance import fisher_exact, flip_p, mcnemar
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.suite.policy import RegressionPolicy


def tail_by_counting(passed, a_total, b_total, level):
    tables = range(max(0, passed - b_total), min(passed, a_total) + 1)
    extreme = [x for x in tables if fisher_exact(x, a_total, passed - x, b_total) <= level]
    return sum(comb(a_total, x) * comb(b_total, passed - x) for x in extreme) / comb(a_total + b_total, passed)


def evidence(*pairs, **policy):
    """The evidence of scenarios given as (scores before, scores now)."""
    sides = [
        {
            ScenarioKey("support", str(place), None): make_scenario_outcome(
                "PASS" if min(pair[side]) == 1 else "PARTIAL", pair[side], scenario_id=str(place)
            )
            for place, pair in enumerate(pairs)
        }
        for side in (0, 1)
    ]
    return compare(sides[1], sides[0], {"support": RegressionPolicy(**policy)}).power


GOOD, BAD, MIXED = [1.0] * 4, [0.0] * 4, [1.0, 1.0, 0.0, 0.0]


def test_four_trials_per_run_can_alarm_only_if_half_of_all_passed():
    assert [fisher_tail(passed, 4, 4, 0.05) > 0 for passed in range(9)] == [passed == 4 for passed in range(9)]
    assert fisher_tail(4, 4, 4, 0.05) == pytest.approx(2 / 70)
    assert fisher_tail(4, 4, 4, 0.02) == 0.0


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 18), st.sampled_from([0.001, 0.03, 0.05, 0.3]))
def test_tail_equals_counting_every_table(a_total, b_total, passed, level):
    passed = min(passed, a_total + b_total)
    found = fisher_tail(passed, a_total, b_total, level)
    assert found == pytest.approx(tail_by_counting(passed, a_total, b_total, level), abs=1e-8)
    assert found <= level + 1e-9


@given(st.integers(0, 30), st.sampled_from([0.001, 0.03, 0.05, 0.3]))
def test_tail_of_pairs_equals_counting_every_outcome(changed, level):
    ways = [comb(changed, x) for x in range(changed + 1) if mcnemar(x, changed - x) <= level]
    assert mcnemar_tail(changed, level) == pytest.approx(sum(ways) / 2**changed, abs=1e-8)


def test_false_alarms_are_summed_over_all_tested_scenarios_changed_or_not():
    found = evidence((MIXED, MIXED), (GOOD, BAD), (GOOD, GOOD), ([1.0], [0.0]), (GOOD, [0.0]))
    half = sum(comb(4, a) * comb(4, b) for a in range(5) for b in range(5) if flip_p(a, 4, b, 4) <= 0.05) / 2**8
    assert found == (5, 3, 2, pytest.approx(2 * half, abs=1e-9))


def test_without_tests_no_false_alarm_is_expected():
    assert evidence(([1.0], [0.0])) == (1, 0, 1, None)
    assert evidence() == (0, 0, 0, None)


def test_correction_leaves_fewer_false_alarms():
    many = [(MIXED * 3, MIXED * 3)] * 10
    plain, holm = evidence(*many), evidence(*many, correction="holm")
    assert 0.1 < plain.expected_false_alarms < 0.5
    assert holm.expected_false_alarms < plain.expected_false_alarms / 5


def test_pairs_that_never_change_can_not_alarm():
    six = [1.0, 0.0] * 6
    assert evidence((six, six), pair_by="trial").expected_false_alarms == 0.0
    turned = evidence((six, six[::-1]), pair_by="trial")
    assert turned.expected_false_alarms == pytest.approx(mcnemar_tail(12, 0.05), abs=1e-9)
