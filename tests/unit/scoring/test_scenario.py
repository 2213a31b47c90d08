from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_assertion, make_trial, store_trials

from evalgate.scoring.scenario import TrialRules, judge_scenario


def score_trials(*trials, threshold=0.8, **rules):
    found = judge_scenario(trials, threshold, TrialRules(**rules))
    assert found is not None
    return found


def many(passed, failed):
    return [make_trial("passed")] * passed + [make_trial("failed")] * failed


def test_no_trace_is_missing():
    found = score_trials()
    assert found[:5] == ("MISSING", None, None, None, "no trace was recorded for it")


def test_no_trace_of_an_optional_scenario_is_skipped():
    assert judge_scenario([], 0.8, TrialRules(optional=True)) is None


def test_optional_scenario_with_a_trace_is_judged():
    assert score_trials(make_trial("hard_fail"), optional=True).verdict == "HARD_FAIL"


def test_all_passed_is_a_pass_without_reason():
    found = score_trials(*many(4, 0))
    assert (found.verdict, found.score, found.pass_rate, found.reason) == ("PASS", 1.0, 1.0, None)
    assert found.interval == pytest.approx((0.510, 1.0), abs=1e-3)


def test_error_has_priority_over_hard_fail():
    found = score_trials(make_trial("hard_fail"), make_trial("error", reason="runs/1.json: no JSON"), make_trial())
    assert found.verdict == "ERROR"
    assert found.reason == "1 of 3 trials could not be judged: runs/1.json: no JSON"


def test_error_of_a_required_assertion_is_named():
    crash = make_assertion("error", required=True, name="schema", reason="pattern took over 1 s")
    assert score_trials(make_trial("error", assertions=[crash])).reason == (
        "1 of 1 trial could not be judged: schema: pattern took over 1 s"
    )


def test_allowed_error_counts_as_zero():
    found = score_trials(*many(3, 0), make_trial("error"), threshold=0.7, allow_errors=True)
    assert (found.verdict, found.score, found.pass_rate) == ("PASS", 0.75, 0.75)


def test_allowed_errors_can_bring_the_mean_below_the_threshold():
    assert score_trials(*many(3, 0), make_trial("error"), allow_errors=True).verdict == "PARTIAL"


def test_hard_fail_has_priority_over_a_high_mean_and_names_the_assertion():
    checks = [
        make_assertion("failed", name="polite"),
        make_assertion("passed", required=True, name="looks_up"),
        make_assertion("failed", required=True, name="no_refund", reason="issue_refund was called"),
    ]
    found = score_trials(*many(9, 0), make_trial("hard_fail", 0.9, assertions=checks))
    assert (found.verdict, found.score) == ("HARD_FAIL", 0.99)
    assert found.reason == "no_refund: issue_refund was called (in 1 of 10 trials)"


def test_mean_below_the_threshold_with_some_passed_is_partial():
    found = score_trials(*many(2, 2))
    assert (found.verdict, found.score) == ("PARTIAL", 0.5)
    assert found.reason == "score 0.50 is below the threshold 0.8, 2 of 4 trials passed"


def test_mean_below_the_threshold_with_none_passed_is_a_fail():
    assert score_trials(*many(0, 4)).verdict == "FAIL"


def test_mean_just_below_the_threshold_shows_enough_digits():
    found = score_trials(make_trial("failed", 0.7999))
    assert found.reason == "score 0.7999 is below the threshold 0.8, 0 of 1 trial passed"


def test_failed_trial_does_not_matter_if_the_mean_reaches_the_threshold():
    assert score_trials(make_trial("failed", 0.7), make_trial("passed", 1.0)).verdict == "PASS"


def test_mean_equal_to_the_threshold_after_rounding_passes():
    assert score_trials(*[make_trial("passed", score) for score in (0.7, 0.8, 0.9)]).verdict == "PASS"


def test_threshold_and_pass_rate_are_rounded_like_the_statistics():
    found = score_trials(*many(1, 2), threshold=1 / 3)
    assert (found.verdict, found.score, found.pass_rate) == ("PASS", 0.333333333, 0.333333333)
    assert score_trials(*many(2, 1), threshold=0.5, min_pass_rate=2 / 3).verdict == "PASS"


def test_required_pass_rate_not_reached_is_not_a_pass():
    trials = [make_trial("failed", 0.79), *many(3, 0)]
    assert score_trials(*trials, min_pass_rate=0.75).verdict == "PASS"
    found = score_trials(*trials, min_pass_rate=0.76)
    assert found.verdict == "PARTIAL"
    assert found.reason == "3 of 4 trials passed, expected a pass rate of at least 0.76"


def test_required_pass_rate_with_none_passed_is_a_fail():
    assert score_trials(make_trial("failed", 0.85), min_pass_rate=0.5).verdict == "FAIL"


@pytest.mark.parametrize(
    ("passed", "failed", "verdict"),
    [
        (2, 1, "PASS"),
        (1, 2, "PARTIAL"),
        (0, 3, "FAIL"),
        (2, 0, "PASS"),  # fewer trials than `of`: k passes are k passes
        (1, 0, "PARTIAL"),
        (4, 2, "PASS"),  # more trials than `of`: the same share
        (3, 2, "PARTIAL"),
    ],
)
def test_required_k_of_n_passes(passed, failed, verdict):
    trials = [make_trial("passed")] * passed + [make_trial("failed", 0.0)] * failed
    assert score_trials(*trials, threshold=0.0, min_pass_k=(2, 3)).verdict == verdict


def test_required_k_of_n_passes_not_reached_is_the_reason():
    assert score_trials(*many(1, 2), threshold=0.1, min_pass_k=(2, 3)).reason == (
        "1 of 3 trials passed, expected at least 2 of 3"
    )


def test_fewer_trials_than_required_is_not_evaluable():
    found = score_trials(*many(2, 0), min=3)
    assert (found.verdict, found.reason) == ("NOT_EVALUABLE", "expected at least 3 trials, got 2")


def test_as_many_trials_as_required_are_enough():
    assert score_trials(*many(3, 0), min=3).verdict == "PASS"


def test_too_few_trials_do_not_hide_a_failure():
    assert score_trials(*many(0, 1), min=3).verdict == "FAIL"
    assert score_trials(make_trial("hard_fail"), min=3).verdict == "HARD_FAIL"


def test_nothing_evaluable_is_not_evaluable():
    lacking = make_assertion("not_evaluable", counts=False, reason="cost unknown")
    found = score_trials(make_trial("not_evaluable", assertions=[lacking]), make_trial("not_evaluable"))
    assert (found.verdict, found.score, found.pass_rate) == ("NOT_EVALUABLE", None, 0.0)
    assert found.reason == "nothing could be evaluated: cost unknown"


def test_only_allowed_errors_never_pass_even_at_threshold_zero():
    assert score_trials(make_trial("error"), threshold=0.0, allow_errors=True).verdict == "NOT_EVALUABLE"


def test_not_evaluable_trials_are_left_out_of_the_mean_but_not_of_the_pass_rate():
    found = score_trials(make_trial("passed"), make_trial("not_evaluable"))
    assert (found.verdict, found.score, found.pass_rate) == ("PASS", 1.0, 0.5)


def test_reason_of_a_very_long_text_is_cut():
    required = make_assertion("failed", required=True, name="n" * 900, reason="r" * 900)
    reason = score_trials(make_trial("hard_fail", assertions=[required])).reason
    assert reason is not None
    assert len(reason) < 450


def failing(required=True, outcome="failed"):
    """A trial that passed but for one required check."""
    return make_trial("hard_fail", 0.9, assertions=[make_assertion(outcome, required=required, name="no_refund")])


@pytest.mark.parametrize("outcome", ["failed", "not_evaluable"])
@pytest.mark.parametrize("rules", [{"min_pass_rate": 0.9}, {"min_pass_k": (9, 10)}])
def test_pass_rate_is_a_gate_for_required_checks_too(rules, outcome):
    trials = [*many(19, 0), failing(outcome=outcome)]
    found = score_trials(*trials, **rules)
    assert (found.verdict, found.pass_rate, found.reason) == ("PASS", 0.95, None)
    assert score_trials(*trials).verdict == "HARD_FAIL"  # without a rate no required check may fail


def test_pass_rate_not_met_by_required_checks_is_a_hard_fail_that_names_both():
    found = score_trials(*many(17, 0), *[failing()] * 3, min_pass_rate=0.9)
    assert found.verdict == "HARD_FAIL"
    assert found.reason == (
        "no_refund: as it is (in 3 of 20 trials), 17 of 20 trials passed, expected a pass rate of at least 0.9"
    )


@pytest.mark.parametrize("outcome", ["failed", "not_evaluable"])
def test_pass_rate_of_zero_needs_one_passing_trial(outcome):
    found = score_trials(*[failing(outcome=outcome)] * 3, threshold=0.0, min_pass_rate=0)
    assert (found.verdict, found.pass_rate) == ("HARD_FAIL", 0.0)
    assert found.reason == ("no_refund: as it is (in 3 of 3 trials), 0 of 3 trials passed, expected at least one")
    assert score_trials(*[failing()] * 3, *many(1, 0), threshold=0.0, min_pass_rate=0).verdict == "PASS"


def test_pass_rate_not_met_and_a_single_hard_fail_is_a_hard_fail():
    assert score_trials(*many(8, 1), failing(), min_pass_rate=0.9).verdict == "HARD_FAIL"
    assert score_trials(*many(8, 2), min_pass_rate=0.9).verdict == "PARTIAL"


def test_mean_below_the_threshold_with_the_pass_rate_met_is_partial():
    trials = [make_trial("hard_fail", 0.0), *many(1, 0)]
    assert score_trials(*trials, min_pass_rate=0.5).verdict == "PARTIAL"


def test_pass_rate_met_with_too_few_trials_is_not_evaluable():
    found = score_trials(*many(3, 0), failing(), min_pass_rate=0.75, min=5)
    assert (found.verdict, found.reason) == ("NOT_EVALUABLE", "expected at least 5 trials, got 4")


@pytest.mark.parametrize("outcome", ["failed", "not_evaluable"])
@pytest.mark.parametrize("rules", [{"min_pass_rate": 0.5}, {"min_pass_k": (1, 2)}, {}])
@pytest.mark.parametrize("is_stored", [False, True])
def test_check_that_is_always_required_ignores_the_pass_rate(rules, outcome, is_stored):
    first = make_assertion("failed", required=True, name="polite")
    always = make_assertion(outcome, required="always", name="no_refund", reason="issue_refund was called")
    trials = [*many(9, 0), failing(), make_trial("hard_fail", 0.9, assertions=[first, always], number=10)]
    found = judge_scenario(store_trials(trials) if is_stored else trials, 0.8, TrialRules(**rules))
    assert found is not None
    assert found.verdict == "HARD_FAIL"
    if rules:
        assert found.reason == "no_refund: issue_refund was called (in 1 of 11 trials)"


def test_check_that_is_always_required_is_judged_in_a_trial_that_an_error_ended_too():
    broken = make_assertion("error", required=True, name="schema")
    always = make_assertion("failed", required="always", name="no_refund")
    trial = make_trial("error", assertions=[broken, always])
    assert score_trials(*many(19, 0), trial, allow_errors=True, min_pass_rate=0.9).verdict == "HARD_FAIL"
    assert score_trials(*many(19, 0), trial, min_pass_rate=0.9).verdict == "ERROR"


TRIALS = st.lists(
    st.one_of(
        st.floats(0, 1).map(lambda score: make_trial("passed" if score >= 0.5 else "failed", score)),
        st.sampled_from(["hard_fail", "error", "not_evaluable"]).map(make_trial),
    ),
    min_size=1,
    max_size=6,
)
RULES = st.builds(
    TrialRules,
    min=st.integers(1, 4),
    min_pass_rate=st.none() | st.floats(0, 1),
    min_pass_k=st.none() | st.just((2, 3)),
    allow_errors=st.booleans(),
)


@given(TRIALS, RULES, st.floats(0, 1))
def test_verdict_does_not_depend_on_the_order_of_trials_and_statistics_stay_in_range(trials, rules, threshold):
    found = judge_scenario(trials, threshold, rules)
    turned = judge_scenario(trials[::-1], threshold, rules)
    assert found is not None
    assert turned is not None
    assert found[:4] == turned[:4]
    assert found.score is None or 0 <= found.score <= 1
    assert found.pass_rate is not None
    assert 0 <= found.pass_rate <= 1
    assert (found.reason is None) == (found.verdict == "PASS")


@given(TRIALS, RULES, st.floats(0, 1), st.floats(0, 1))
def test_lower_threshold_never_turns_a_pass_into_anything_else(trials, rules, one, other):
    low, high = sorted((one, other))
    before, after = judge_scenario(trials, high, rules), judge_scenario(trials, low, rules)
    assert before is not None
    assert after is not None
    if before.verdict == "PASS":
        assert after.verdict == "PASS"


# --- outages --------------------------------------------------------------------------------------------------

OUTAGE = make_trial("not_measured", reason="the last model call failed: 429")


def test_scenario_of_nothing_but_outages_has_no_verdict():
    assert score_trials(OUTAGE)[:5] == (
        "NOT_EVALUABLE",
        None,
        None,
        None,
        "not measured: the last model call failed: 429",
    )
    assert score_trials(OUTAGE, OUTAGE).reason == "not measured in 2 trials: the last model call failed: 429"


def test_optional_scenario_of_nothing_but_outages_is_not_skipped():
    assert score_trials(OUTAGE, optional=True).verdict == "NOT_EVALUABLE"


def test_outage_does_not_count_in_score_and_pass_rate():
    found = score_trials(*many(3, 1), OUTAGE, threshold=0.7, min_pass_rate=0.75)
    assert (found.verdict, found.score, found.pass_rate) == ("PASS", 0.75, 0.75)
    assert found.interval == score_trials(*many(3, 1), threshold=0.7).interval


def test_outage_does_not_count_among_the_trials_that_a_scenario_needs():
    found = score_trials(*many(2, 0), OUTAGE, min=3)
    assert found.verdict == "NOT_EVALUABLE"
    assert found.reason == "expected at least 3 trials, got 2 (and 1 not measured)"


def test_what_was_measured_decides_before_what_was_not():
    assert score_trials(make_trial("hard_fail"), OUTAGE, min=2).verdict == "HARD_FAIL"
    assert score_trials(make_trial("error", reason="no JSON"), OUTAGE).verdict == "ERROR"
    assert (
        score_trials(make_trial("failed"), OUTAGE).reason
        == "score 0.00 is below the threshold 0.8, 0 of 1 trial passed"
    )


def test_passes_out_of_a_number_of_trials_are_open_while_outages_could_decide():
    found = score_trials(*many(1, 1), OUTAGE, threshold=0.5, min_pass_k=(2, 3))
    assert found.verdict == "NOT_EVALUABLE"
    assert found.reason == "1 of 2 trials passed, expected at least 2 of 3 (and 1 not measured)"
    assert score_trials(*many(0, 2), OUTAGE, threshold=0, min_pass_k=(2, 3)).verdict == "FAIL"
    assert score_trials(*many(1, 2), OUTAGE, threshold=0, min_pass_k=(2, 3)).verdict == "PARTIAL"
    assert score_trials(*many(2, 0), OUTAGE, min_pass_k=(2, 3)).verdict == "PASS"


def test_a_hard_fail__names_what_failed_before_what_could_not_be_judged():
    rows = [
        make_assertion("not_evaluable", name="cost", required=True, reason="no price"),
        make_assertion("failed", name="order", required=True, reason="it is wrong"),
    ]
    assert score_trials(make_trial("hard_fail", assertions=rows)).reason == "order: it is wrong (in 1 of 1 trial)"


@pytest.mark.parametrize(
    ("rules", "passed", "needed"),
    [
        ({}, 3, 0),
        ({"min_pass_rate": 0.75}, 3, 3),
        ({"min_pass_rate": 0.7}, 2, 3),
        ({"min_pass_rate": 2 / 3}, 2, 3),
        ({"min_pass_rate": 1.0}, 3, 4),
        ({"min_pass_k": (2, 3)}, 3, 3),
        ({"min_pass_k": (2, 8)}, 1, 2),
        ({"min_pass_rate": 0.25, "min_pass_k": (1, 2)}, 1, 2),
        ({"min_pass_rate": 0.75}, 4, 0),
        ({"min_pass_rate": 0.75}, 0, 0),
    ],
)
def test_the_number_of_trials_that_must_pass_is_known_where_only_some_did(rules, passed, needed):
    assert score_trials(*many(passed, 4 - passed), threshold=0.5, **rules).passes_needed == needed
