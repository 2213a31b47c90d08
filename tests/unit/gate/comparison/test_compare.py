from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_scenario_outcome

from evalgate.gate.comparison.compare import compare
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.run.run import NOT_EVALUATED
from evalgate.suite.policy import IncreaseLimit, RegressionPolicy

KEY = ScenarioKey("support", "s1", None)


def change(before, now, **policy):
    policies = {"support": RegressionPolicy(**policy)}
    return compare({KEY: now}, {KEY: before}, policies).changes[KEY]


def of_trials(verdict, passed, failed):
    return make_scenario_outcome(verdict, [1.0] * passed + [0.0] * failed)


# --- flips ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["PARTIAL", "FAIL", "HARD_FAIL"])
def test_single_trial_that_passed_before_and_not_now_is_broken(verdict):
    found = change(make_scenario_outcome(), make_scenario_outcome(verdict, [0.0]))
    assert (found.kind, found.flags, found.p_value) == ("broken", ["single_trial"], None)
    assert found.previous_verdict == "PASS"
    assert found.score_delta == -1.0


def test_single_trial_that_passes_now_is_fixed():
    found = change(make_scenario_outcome("HARD_FAIL", [0.0]), make_scenario_outcome())
    assert (found.kind, found.flags) == ("fixed", ["single_trial"])
    assert found.reason == ("passed 0 of 1 before, 1 of 1 now, single trial: may be noise")


def test_single_trial_in_one_run_only_is_still_single():
    assert change(of_trials("PASS", 4, 0), of_trials("FAIL", 0, 1)).flags == ["single_trial"]
    assert change(of_trials("PASS", 1, 0), of_trials("FAIL", 0, 4)).flags == ["single_trial"]


def test_single_trial_where_evidence_is_required_is_inconclusive():
    found = change(make_scenario_outcome(), make_scenario_outcome("FAIL", [0.0]), require_evidence=True)
    assert (found.kind, found.flags) == ("inconclusive", ["single_trial"])
    assert found.reason.endswith("record at least 4 trials on each side (`--trials 4`) to be sure")


def test_four_of_four_to_none_of_four_is_broken_with_its_p_value():
    found = change(of_trials("PASS", 4, 0), of_trials("FAIL", 0, 4))
    assert (found.kind, found.flags) == ("broken", [])
    assert found.p_value == 0.0078125
    assert found.reason == "passed 4 of 4 before, 0 of 4 now"


def test_four_trials_at_a_stricter_alpha_are_inconclusive():
    found = change(of_trials("PASS", 4, 0), of_trials("FAIL", 1, 3), alpha=0.01)
    assert found.kind == "inconclusive"
    assert found.reason.endswith(": record at least 6 trials on each side (`--trials 6`) to be sure")


def test_p_equal_to_alpha_is_evidence_enough():
    assert change(of_trials("PASS", 4, 0), of_trials("FAIL", 1, 3), alpha=0.0703125).kind == "broken"
    before, now = make_scenario_outcome("PASS", [1.0] * 4), make_scenario_outcome("PASS", [0.8] * 4)
    assert change(before, now, alpha=0.028571429).kind == "regressed"


def test_two_against_none_of_two_is_broken_and_flagged():
    found = change(of_trials("PASS", 2, 0), of_trials("FAIL", 0, 2))
    assert (found.kind, found.flags, found.test, found.p_value) == ("broken", ["few_trials"], "Boschloo", 0.125)
    assert found.reason == "passed 2 of 2 before, 0 of 2 now"


def test_one_of_two_trials_that_stopped_passing_may_be_chance():
    found = change(of_trials("PASS", 2, 0), of_trials("FAIL", 1, 1))
    assert (found.kind, found.flags) == ("inconclusive", [])
    assert (
        found.reason
        == "passed 2 of 2 before, 1 of 2 now: record at least 7 trials on each side (`--trials 7`) to be sure"
    )


def test_flip_without_a_difference_in_passes_is_noise():
    before = make_scenario_outcome("PASS", [1.0, 1.0, 1.0, 0.7])
    found = change(before, make_scenario_outcome("PARTIAL", [0.8, 0.8, 0.8, 0.0]))
    assert found.kind == "inconclusive"
    assert (found.reason, found.p_value) == ("passed 3 of 4 before, 3 of 4 now", 1.0)


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE"])
def test_if_a_run_was_not_evaluable_the_flip_decides_without_p_value(verdict):
    nothing = make_scenario_outcome(verdict, [])
    broken = change(of_trials("PASS", 2, 0), nothing, require_evidence=True)
    assert (broken.kind, broken.flags, broken.p_value) == ("broken", [], None)
    assert broken.reason == f"PASS -> {verdict.replace('_', ' ')}"
    assert change(of_trials("FAIL", 0, 2), nothing).kind == "unchanged"
    assert change(nothing, nothing).kind == "unchanged"


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE"])
def test_what_the_baseline_could_not_judge_is_neither_fixed_nor_as_before(verdict):
    for now in (of_trials("PASS", 2, 0), of_trials("FAIL", 0, 2)):
        comparison = compare({KEY: now}, {KEY: make_scenario_outcome(verdict, [0.0])}, {})
        found = comparison.changes[KEY]
        assert (found.kind, found.previous_verdict, found.score_delta) == ("new", verdict, None)
        assert found.reason == f"could not be judged in the baseline: it was {verdict.replace('_', ' ')}"
        assert (comparison.baseline_outcomes, comparison.removed) == ({}, [])


def test_score_of_an_error_is_not_a_move():
    assert change(make_scenario_outcome("FAIL", [0.7]), make_scenario_outcome("ERROR", [0.0])).kind == "unchanged"


# --- scores ---------------------------------------------------------------------------------------------------


def test_score_that_fell_without_a_flip_is_regressed():
    found = change(make_scenario_outcome("PASS", [0.95]), make_scenario_outcome("PASS", [0.85]))
    assert (found.kind, found.flags, found.score_delta) == ("regressed", ["single_trial"], -0.1)
    assert found.reason == "score 0.95 -> 0.85 (\u22120.10), single trial: may be noise"


def test_score_of_a_single_trial_in_one_run_only_is_still_single():
    four, one = make_scenario_outcome("PASS", [0.99, 0.98, 0.97, 0.96]), make_scenario_outcome("PASS", [0.8])
    assert change(four, one).flags == change(one, four).flags == ["single_trial"]


def test_score_that_rose_without_a_flip_is_improved():
    assert change(make_scenario_outcome("FAIL", [0.2]), make_scenario_outcome("FAIL", [0.5])).kind == "improved"


def test_move_of_exactly_the_threshold_is_unchanged():
    assert 0.9 - 0.85 > 0.05  # what plain floats would say
    found = change(make_scenario_outcome("PASS", [0.9]), make_scenario_outcome("PASS", [0.85]))
    assert (found.kind, found.reason) == ("unchanged", "PASS as before, score 0.90 -> 0.85 (\u22120.05)")


def test_threshold_of_the_policy_decides_what_is_a_move():
    before, now = make_scenario_outcome("PASS", [0.95]), make_scenario_outcome("PASS", [0.85])
    assert change(before, now, threshold=0.1).kind == "unchanged"
    assert change(before, now, threshold=0.09).kind == "regressed"


def test_scores_of_several_trials_need_the_permutation_test():
    found = change(
        make_scenario_outcome("PASS", [0.99, 0.98, 0.97, 0.96]), make_scenario_outcome("PASS", [0.83, 0.82, 0.81, 0.8])
    )
    assert (found.kind, found.flags) == ("regressed", [])
    assert found.p_value == pytest.approx(2 / 70, abs=1e-6)
    assert found.reason == "score 0.97 -> 0.81 (\u22120.16)"


def test_scores_that_overlap_are_inconclusive():
    found = change(
        make_scenario_outcome("PASS", [1.0, 0.8, 1.0, 0.9]), make_scenario_outcome("PASS", [0.8, 0.9, 0.8, 0.9])
    )
    assert found.kind == "inconclusive"
    assert found.reason == "score 0.92 -> 0.85 (\u22120.07)"


def test_scores_of_two_against_two_trials_need_more_trials():
    found = change(make_scenario_outcome("PASS", [1.0, 1.0]), make_scenario_outcome("PASS", [0.8, 0.8]))
    assert found.kind == "inconclusive"
    assert found.reason.endswith("(\u22120.20): record at least 4 trials on each side (`--trials 4`) to be sure")
    assert (found.test, found.p_value) == ("permutation", pytest.approx(1 / 3))


def test_change_between_two_failing_verdicts_is_not_a_flip():
    found = change(make_scenario_outcome("FAIL", [0.5]), make_scenario_outcome("HARD_FAIL", [0.5]))
    assert (found.kind, found.reason) == ("unchanged", "FAIL -> HARD FAIL")


# --- flags, increases, keys -----------------------------------------------------------------------------------


def test_baseline_with_passed_and_failed_trials_is_flaky():
    assert change(of_trials("PARTIAL", 2, 2), of_trials("PARTIAL", 2, 2)).flags == ["flaky"]
    assert change(of_trials("FAIL", 0, 4), of_trials("PARTIAL", 2, 2)).flags == []


def test_increases_are_reported_with_an_unchanged_score():
    policy = {"cost": IncreaseLimit(max_increase=0.2)}
    found = change(make_scenario_outcome(costs=[1.0]), make_scenario_outcome(costs=[1.35]), **policy)
    assert (found.kind, found.increases) == ("unchanged", ["cost +35% (limit +20%)"])


def test_scenario_missing_from_the_baseline_is_new():
    comparison = compare({KEY: make_scenario_outcome("HARD_FAIL", [0.0])}, {}, {})
    assert comparison.changes[KEY].kind == "new"
    assert comparison.changes[KEY].previous_verdict is None
    assert comparison.removed == []


def test_deleted_scenario_is_removed_with_its_last_verdict():
    others = [make_scenario_outcome("FAIL", [0.1], scenario_id=name) for name in ("b", "a")]
    comparison = compare({}, {found.key: found for found in others}, {})
    assert comparison.changes == {}
    assert comparison.removed == others[::-1]


def test_removed_variants_are_sorted_by_name():
    gone = {ScenarioKey("support", "s1", variant): make_scenario_outcome() for variant in ("nl", None, "de")}
    for key, found in gone.items():
        found.key = key
    assert [found.key.variant for found in compare({}, gone, {}).removed] == [None, "de", "nl"]


def test_each_suite_is_compared_by_its_own_policy():
    other = ScenarioKey("other", "s1", None)
    before, now = make_scenario_outcome("PASS", [0.95]), make_scenario_outcome("PASS", [0.85])
    policies = {"support": RegressionPolicy(threshold=0.5)}
    comparison = compare({KEY: now, other: now}, {KEY: before, other: before}, policies)
    assert [comparison.changes[key].kind for key in (KEY, other)] == ["unchanged", "regressed"]


VERDICTS = ["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "NOT_EVALUABLE"]
SCORES = st.lists(st.none() | st.sampled_from([0.0, 0.3, 0.75, 0.8, 0.84, 1.0]), min_size=1, max_size=7)
STANDINGS = st.one_of(
    st.just(make_scenario_outcome("MISSING", [])),
    st.builds(make_scenario_outcome, st.sampled_from(VERDICTS), SCORES, first_trial=st.integers(0, 3)),
)
RUNS = st.dictionaries(st.sampled_from([ScenarioKey("support", name, None) for name in "abc"]), STANDINGS)
POLICIES = st.builds(
    RegressionPolicy,
    threshold=st.sampled_from([0.0, 0.05, 0.5]),
    require_evidence=st.booleans(),
    correction=st.sampled_from(["none", "holm", "bh"]),
    pair_by=st.sampled_from([None, "trial"]),
)
MIRROR = {"broken": "fixed", "fixed": "broken", "regressed": "improved", "improved": "regressed"}


@given(RUNS, POLICIES)
def test_run_compared_with_itself_is_unchanged(run, policy):
    comparison = compare(run, run, {"support": policy})
    assert {found.kind for found in comparison.changes.values()} <= {"unchanged"}
    assert comparison.removed == []


@given(RUNS, RUNS, POLICIES)
def test_swapped_sides_mirror_the_kinds(one, other, policy):
    there = compare(one, other, {"support": policy})
    back = compare(other, one, {"support": policy})
    for key in one.keys() & other.keys():
        if NOT_EVALUATED.isdisjoint({one[key].verdict, other[key].verdict}):
            kind = there.changes[key].kind
            assert back.changes[key].kind == MIRROR.get(kind, kind)
    new = [key for key, found in there.changes.items() if found.kind == "new" and found.previous_verdict is None]
    assert sorted(new) == sorted(one.keys() - other.keys())
    assert back.removed == [one[key] for key in sorted(new)]


def test_id_that_looks_like_a_secret_is_found_under_its_redacted_name():
    key = ScenarioKey("support", "reset-password: forgotten-link", None)
    stored = ScenarioKey("support", redact(key.id), None)
    assert stored != key
    found = compare({key: make_scenario_outcome()}, {stored: make_scenario_outcome()}, {})
    assert found.changes[key].kind == "unchanged"
    assert found.removed == []


# --- pairs and corrections ------------------------------------------------------------------------------------


def numbered(found, *numbers):
    found.trials = list(numbers or range(len(found.scores)))
    return found


def test_pairs_of_trials_use_mcnemars_test():
    before, now = numbered(of_trials("PASS", 6, 0)), numbered(of_trials("FAIL", 0, 6))
    found = change(before, now, pair_by="trial")
    assert (found.kind, found.p_value) == ("broken", 0.03125)
    assert found.reason == "passed 6 of 6 before, 0 of 6 now"


def test_four_pairs_are_too_few():
    before, now = numbered(of_trials("PASS", 4, 0)), numbered(of_trials("FAIL", 0, 4))
    found = change(before, now, pair_by="trial")
    assert found.kind == "inconclusive"
    assert (
        found.reason
        == "passed 4 of 4 before, 0 of 4 now: record at least 6 trials on each side (`--trials 6`) to be sure"
    )


def test_trials_are_paired_by_number_and_not_by_position():
    before = numbered(make_scenario_outcome("PARTIAL", [1.0, 1.0, 0.0]), 0, 1, 2)
    now = numbered(make_scenario_outcome("PASS", [1.0, 0.9, 1.0]), 2, 0, 1)
    found = change(before, now, pair_by="trial")
    assert (found.kind, found.p_value) == ("inconclusive", 1.0)


def test_trials_without_a_common_number_are_not_paired():
    before, now = numbered(of_trials("PASS", 4, 0)), numbered(of_trials("FAIL", 0, 4), 3, 4, 5, 6)
    found = change(before, now, pair_by="trial")
    assert (found.kind, found.flags, found.p_value) == ("inconclusive", [], None)
    assert found.reason.endswith("now: fewer than two trials have the same number on both sides")


def test_scores_of_pairs_use_the_paired_permutation_test():
    tasks = [0.99, 0.95, 0.92, 0.9, 0.88, 0.86]
    before = numbered(make_scenario_outcome("PASS", tasks))
    now = numbered(make_scenario_outcome("PASS", [score - 0.06 for score in tasks], passed=[True] * 6))
    assert change(before, now).kind == "inconclusive"
    found = change(before, now, pair_by="trial")
    assert (found.kind, found.p_value) == ("regressed", 0.03125)
    assert found.reason == "score 0.92 -> 0.86 (\u22120.06)"


def test_scores_of_few_pairs_need_more_trials():
    before, now = (
        numbered(make_scenario_outcome("PASS", [1.0] * 4)),
        numbered(make_scenario_outcome("PASS", [0.85] * 4)),
    )
    assert change(before, now).kind == "regressed"
    found = change(before, now, pair_by="trial")
    assert (found.kind, found.p_value) == ("inconclusive", 0.125)
    assert found.reason.endswith("record at least 6 trials on each side (`--trials 6`) to be sure")
    apart = change(before, numbered(now, 6, 7, 8, 9), pair_by="trial")
    assert apart.reason.endswith("fewer than two trials have the same number on both sides")


def test_single_trial_where_pairs_are_evidence_needs_six():
    found = change(
        make_scenario_outcome(), make_scenario_outcome("FAIL", [0.0]), require_evidence=True, pair_by="trial"
    )
    assert found.reason.endswith("record at least 6 trials on each side (`--trials 6`) to be sure")


def family(size, *, suite="support", broken=1, trials=4):
    """Scenarios of both runs, of which the first ones went from all trials passed to none."""
    keys = [ScenarioKey(suite, f"s{number}", None) for number in range(size)]
    before = {key: of_trials("PASS", trials, 0) for key in keys}
    now = {key: of_trials("FAIL", 0, trials) if key in keys[:broken] else before[key] for key in keys}
    return before, now, keys[0]


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_correction_over_many_scenarios_hides_a_break_of_four_trials(correction):
    before, now, first = family(50)
    plain = compare(now, before, {}).changes[first]
    assert (plain.kind, plain.p_corrected) == ("broken", None)
    found = compare(now, before, {"support": RegressionPolicy(correction=correction)}).changes[first]
    assert (found.kind, found.p_value, found.p_corrected) == ("inconclusive", plain.p_value, 0.390625)
    assert found.reason == (
        "passed 4 of 4 before, 0 of 4 now: record at least 6 trials on each side (`--trials 6`) to be sure"
    )


def test_correction_lets_a_break_of_enough_trials_through():
    before, now, first = family(50, trials=7)
    found = compare(now, before, {"support": RegressionPolicy(correction="holm")}).changes[first]
    assert (found.kind, found.p_corrected) == ("broken", pytest.approx(50 * 2 * 0.5**14, abs=1e-6))
    assert found.test == "Boschloo"


def test_benjamini_hochberg_accepts_many_breaks_where_holm_accepts_none():
    before, now, _ = family(10, broken=8)

    def broken(word):
        changes = compare(now, before, {"support": RegressionPolicy(correction=word)}).changes.values()
        return sum(found.kind == "broken" for found in changes)

    assert [broken(word) for word in ("none", "holm", "bh")] == [8, 0, 8]


def test_scenarios_of_all_suites_with_the_same_correction_are_one_family():
    before, now, first = family(1)
    more_before, more_now, _ = family(3, suite="other", broken=0)
    policy = RegressionPolicy(correction="holm")

    def p(*suites):
        policies = dict.fromkeys(suites, policy)
        return compare(now | more_now, before | more_before, policies).changes[first].p_corrected

    assert p("support", "other") == pytest.approx(4 * 2 * 0.5**8, abs=1e-6)
    assert p("support") == 0.0078125


def test_scenarios_that_can_not_be_tested_are_in_no_family():
    before, now, first = family(1)
    for name, there, here in (("one", 1, 4), ("gone", 4, 0)):
        key = ScenarioKey("support", name, None)
        before[key] = of_trials("PASS", there, 0)
        now[key] = of_trials("PASS", here, 0) if here else make_scenario_outcome("MISSING", [])
    found = compare(now, before, {"support": RegressionPolicy(correction="holm")})
    assert found.changes[first].p_corrected == found.changes[first].p_value


def test_comparison_has_the_baseline_outcome_of_every_scenario():
    before, now, _ = family(3)
    new = ScenarioKey("support", "new", None)
    assert compare({**now, new: make_scenario_outcome()}, before, {}).baseline_outcomes == before


# --- outages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", ["PASS", "FAIL", "HARD_FAIL", "MISSING", "NOT_EVALUABLE"])
def test_scenario_that_an_outage_left_unmeasured_is_inconclusive(before):
    now = make_scenario_outcome("NOT_EVALUABLE", [], unmeasured=3)
    found = change(make_scenario_outcome(before, [1.0, 0.5], costs=[1, 1], passed=[True, False]), now)
    assert (found.kind, found.reason, found.increases, found.flags) == ("inconclusive", "not measured", [], [])
    assert found.previous_verdict == before


def test_unmeasured_scenario_that_the_baseline_lacks_is_inconclusive_and_not_new():
    now = make_scenario_outcome("NOT_EVALUABLE", [], unmeasured=1)
    found = compare({KEY: now}, {}, {}).changes[KEY]
    assert (found.kind, found.reason, found.previous_verdict) == ("inconclusive", "not measured", None)


def test_scenario_whose_other_trials_were_measured_is_compared_by_them():
    found = change(of_trials("PASS", 4, 0), make_scenario_outcome("FAIL", [0.0] * 4, unmeasured=2))
    assert (found.kind, found.reason) == ("broken", "passed 4 of 4 before, 0 of 4 now")
