from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_assertion

from evalgate.scoring.scenario import score_trial


def test_score_is_the_weighted_mean():
    checks = [make_assertion("passed", weight=3), make_assertion("failed", weight=1)]
    assert score_trial(checks, 0.75) == ("passed", 0.75)


def test_score_below_the_threshold_fails():
    checks = [make_assertion("passed", weight=3), make_assertion("failed", weight=1)]
    assert score_trial(checks, 0.76) == ("failed", 0.75)


def test_graded_score_counts_as_it_is_whether_passed_or_failed():
    assert score_trial([make_assertion("passed", 0.9), make_assertion("failed", 0.5)], 0.7) == ("passed", 0.7)


def test_score_equal_to_the_threshold_after_rounding_passes():
    checks = [make_assertion("passed", score) for score in (0.7, 0.8, 0.9)]
    assert sum((0.7, 0.8, 0.9)) / 3 < 0.8  # what plain floats would say
    assert score_trial(checks, 0.8) == ("passed", 0.8)


def test_threshold_is_rounded_as_the_score_is():
    checks = [make_assertion("passed"), make_assertion("failed"), make_assertion("failed")]
    assert score_trial(checks, 1 / 3) == ("passed", 0.333333333)


def test_skipped_is_left_out_of_the_mean():
    assert score_trial([make_assertion("passed"), make_assertion("skipped", weight=9)], 1.0) == (
        "passed",
        1.0,
    )


def test_required_and_skipped_does_not_count():
    assert score_trial([make_assertion("passed"), make_assertion("skipped", required=True)], 1.0)[0] == "passed"


def test_not_evaluable_counts_as_zero():
    assert score_trial([make_assertion("passed"), make_assertion("not_evaluable")], 0.8) == ("failed", 0.5)


def test_not_evaluable_counts_as_zero_even_if_it_brings_a_score():
    assert score_trial([make_assertion("passed"), make_assertion("not_evaluable", 1.0)], 0.8) == (
        "failed",
        0.5,
    )


def test_not_evaluable_under_skip_is_left_out():
    checks = [make_assertion("passed"), make_assertion("not_evaluable", counts=False)]
    assert score_trial(checks, 0.8) == ("passed", 1.0)


def test_error_counts_as_zero_and_the_rest_may_still_pass():
    checks = [make_assertion("passed", weight=9), make_assertion("error", weight=1)]
    assert score_trial(checks, 0.8) == ("passed", 0.9)


@pytest.mark.parametrize("outcome", ["failed", "not_evaluable"])
def test_failed_required_assertion_is_a_hard_fail_at_any_score(outcome):
    checks = [make_assertion("passed", weight=99), make_assertion(outcome, required=True)]
    assert score_trial(checks, 0.5) == ("hard_fail", 0.99)


def test_required_with_weight_zero_still_hard_fails():
    checks = [make_assertion("passed"), make_assertion("failed", weight=0, required=True)]
    assert score_trial(checks, 0.5) == ("hard_fail", 1.0)


def test_required_error_has_priority_over_a_required_failure():
    checks = [make_assertion("failed", required=True), make_assertion("error", required=True)]
    assert score_trial(checks, 0.5)[0] == "error"


def test_trial_that_ended_in_an_error_scores_zero_as_in_the_mean_of_its_scenario():
    checks = [make_assertion("passed", weight=9), make_assertion("error", required=True)]
    assert score_trial(checks, 0.5) == ("error", 0.0)


def test_passed_required_assertion_is_not_a_hard_fail():
    assert score_trial([make_assertion("passed", required=True)], 0.8) == ("passed", 1.0)


@pytest.mark.parametrize(
    "checks",
    [
        [],
        [make_assertion("skipped")],
        [make_assertion("not_evaluable", counts=False)],
        [make_assertion("passed", weight=0), make_assertion("skipped")],
    ],
)
def test_nothing_left_to_score_is_never_passed_even_at_threshold_zero(checks):
    assert score_trial(checks, 0.0) == ("not_evaluable", None)


ASSERTIONS = st.lists(
    st.builds(
        make_assertion,
        st.sampled_from(["passed", "failed", "not_evaluable", "skipped", "error"]),
        st.floats(0, 1),
        weight=st.floats(0, 1e300),
        required=st.booleans(),
    ),
    max_size=6,
)


@given(ASSERTIONS, st.floats(0, 1))
def test_score_lies_in_the_unit_range_and_order_does_not_matter(checks, threshold):
    status, score = score_trial(checks, threshold)
    assert (score is None) <= (status in {"not_evaluable", "hard_fail", "error"})
    assert score is None or 0 <= score <= 1
    assert score_trial(checks[::-1], threshold) == (status, score)


@given(
    st.lists(
        st.builds(
            make_assertion,
            st.sampled_from(["passed", "passed", "failed", "not_evaluable", "skipped", "error"]),
            st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.0]),
            weight=st.integers(0, 4).map(float),
            counts=st.booleans(),
        ),
        max_size=6,
    )
)
def test_score__is_the_weighted_mean_of_what_counts(checks):
    for each in checks:
        each.counts = each.counts or each.outcome != "not_evaluable"
    counting = [each for each in checks if each.counts and each.outcome != "skipped"]
    got = sum(Fraction(each.score) * Fraction(each.weight) for each in counting if each.outcome in {"passed", "failed"})
    total = sum(Fraction(each.weight) for each in counting)
    expected = round(float(got / total), 9) if total else None
    assert score_trial(checks, 0.5)[1] == expected


@given(ASSERTIONS, st.floats(0, 1), st.floats(0, 1))
def test_lower_threshold_never_turns_a_pass_into_a_fail(checks, one, other):
    low, high = sorted((one, other))
    if score_trial(checks, high)[0] == "passed":
        assert score_trial(checks, low)[0] == "passed"
