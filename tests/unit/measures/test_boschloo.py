"""Boschloo's exact test equals scipy's, its rejected tables are those with a small p, and more trials never decide less."""

from __future__ import annotations

import warnings
from itertools import product

import pytest
from run_builders import make_scenario_outcome

from evalgate.gate.comparison.compare import compare
from evalgate.measures.numeric.boschloo import boschloo_exact, rejected_tables
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.suite.policy import RegressionPolicy

LARGEST = 12


@pytest.mark.parametrize(
    ("table", "p"),
    [((3, 3, 0, 3), 0.03125), ((8, 8, 4, 8), 0.027894), ((5, 5, 1, 5), 0.021484), ((2, 2, 0, 2), 0.125)],
)
def test_known_tables(table, p):
    assert boschloo_exact(*table) == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize("a_total", [1, 2, 3, 4])
def test_it_equals_the_one_of_scipy(a_total):
    compare_with_scipy(a_total, 4)


@pytest.mark.matrix
@pytest.mark.parametrize("a_total", range(1, LARGEST + 1))
def test_it_equals_the_one_of_scipy_in_larger_tables(a_total):
    compare_with_scipy(a_total, LARGEST)


def compare_with_scipy(a_total, largest):
    """scipy gives no number where all or none passed; there is no difference then, so p is 1."""
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed: `python3 .ci/environment.py test`")
    for b_total, a, b in product(range(1, largest + 1), range(a_total + 1), range(largest + 1)):
        if b > b_total:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = stats.boschloo_exact([[a, b], [a_total - a, b_total - b]]).pvalue
        found = boschloo_exact(a, a_total, b, b_total)
        assert found == (1.0 if a + b in (0, a_total + b_total) else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(("a_total", "b_total"), [(2, 2), (3, 5), (8, 8), (12, 7)])
@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.3])
def test_rejected_tables_are_those_with_a_small_p(a_total, b_total, alpha):
    found = rejected_tables(a_total, b_total, alpha)
    for a, b in product(range(a_total + 1), range(b_total + 1)):
        assert (b >= found.least[a] or b <= found.most[a]) == (boschloo_exact(a, a_total, b, b_total) <= alpha)
    assert all(found.probability(rate / 20) <= alpha + 1e-9 for rate in range(21))
    assert found.probability(0.0) == found.probability(1.0) == 0.0


def test_sides_and_outcomes_can_be_swapped():
    for a_total, b_total in ((3, 8), (7, 7), (60, 200)):
        for a, b in ((0, b_total), (a_total - 1, 1), (a_total // 2, b_total)):
            p = boschloo_exact(a, a_total, b, b_total)
            assert boschloo_exact(b, b_total, a, a_total) == pytest.approx(p, abs=1e-9)
            assert boschloo_exact(a_total - a, a_total, b_total - b, b_total) == pytest.approx(p, abs=1e-9)


def kind_of(a, a_total, b, b_total):
    """The change of a scenario that passes if most of its trials do."""
    key = ScenarioKey("support", "refund", None)
    before, now = (
        make_scenario_outcome("PASS" if 2 * passed > total else "FAIL", [1.0] * passed + [0.0] * (total - passed))
        for passed, total in ((a, a_total), (b, b_total))
    )
    return compare({key: now}, {key: before}, {"support": RegressionPolicy()}).changes[key].kind


def test_one_more_trial_that_agrees_with_its_side_never_turns_broken_into_may_be_chance():
    broken = 0
    for a_total, b_total in product(
        range(2, 9), repeat=2
    ):  # a single trial is reported as it is, whatever the other side
        for a, b in product(range(a_total + 1), range(b_total + 1)):
            if 2 * a > a_total and 2 * b < b_total and kind_of(a, a_total, b, b_total) == "broken":
                broken += 1
                for more in (
                    (a + 1, a_total + 1, b, b_total),
                    (a, a_total, b, b_total + 1),
                    (a + 1, a_total + 1, b, b_total + 1),
                ):
                    assert kind_of(*more) == "broken", (a, a_total, b, b_total, more)
    assert broken > 100


@pytest.mark.parametrize(("policy", "kind"), [({}, "broken"), ({"require_evidence": True}, "inconclusive"),
                                             ({"correction": "holm"}, "inconclusive"), ({"pair_by": "trial"}, "inconclusive")])  # fmt: skip
def test_a_complete_reversal_of_two_trials_counts_unless_the_policy_asks_for_evidence(policy, kind):
    key = ScenarioKey("support", "refund", None)
    now, before = make_scenario_outcome("FAIL", [0.0, 0.0]), make_scenario_outcome("PASS", [1.0, 1.0])
    compared = compare({key: now}, {key: before}, {"support": RegressionPolicy(**policy)})
    change = compared.changes[key]
    assert change.kind == kind
    assert ("few_trials" in change.flags) == (kind == "broken")


def test_the_expected_false_alarms_count_reversals():
    key = ScenarioKey("support", "refund", None)
    mixed = make_scenario_outcome("PARTIAL", [1.0, 0.0])
    power = compare({key: mixed}, {key: mixed}, {"support": RegressionPolicy()}).power
    assert power.expected_false_alarms == pytest.approx(2 / 16)
