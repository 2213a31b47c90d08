"""Approvals: each rule alone, several of one scenario, and their effect on the decision."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from run_builders import make_assertion, make_run, make_scenario, make_trial

from evalgate.gate.decision.approvals import find_proposals, rule_by_date, rule_on_approvals
from evalgate.gate.decision.decide import decide
from evalgate.models.approvals.approval import Approval, Approvals
from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
from evalgate.suite.policy import Policies, Policy

TODAY = date(2026, 11, 21)
KEY = ScenarioKey("support", "s1", None)


def approval(**given):
    narrow = dict.fromkeys(("variant", "assertion", "change", "least_score", "location"))
    written = {"suite": "support", "scenario": "s1", "reason": "outage", "who": "Ana"}
    bounds = {"until": date(2026, 11, 24), "traces": frozenset()}
    return Approval(**{**narrow, **written, **bounds, **given})


def failing(verdict="HARD_FAIL", *checks, score=None, status="hard_fail", check_type="jmespath", **more):
    names = checks or ("a",)
    assertions = [make_assertion("failed", name=name, required=True, check_type=check_type) for name in names]
    return make_scenario(verdict, trials=[make_trial(status, score, assertions=assertions)], **more)


def rule(scenario, *approvals, changes=None, today=TODAY):
    found = rule_on_approvals(make_run(scenario), changes or {}, Approvals(tuple(approvals)), today)
    return [(ruling.status, ruling.message) for ruling in found.rulings], found.approved


# --- one approval ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["HARD_FAIL", "FAIL", "PARTIAL"])
def test_a_failing_scenario_is_approved_until_its_day(verdict):
    assert rule(failing(verdict), approval()) == ([("active", "expires in 3 days")], {KEY})


@pytest.mark.parametrize(
    ("day", "message"), [(23, "expires in 1 day"), (24, "expires today"), (1, "expires in 23 days")]
)
def test_the_remaining_days_are_reported(day, message):
    assert rule(failing(), approval(), today=date(2026, 11, day)) == ([("active", message)], {KEY})


@pytest.mark.parametrize(
    ("checks", "rulings"),
    [
        ({"a", "b"}, ("active", "expires in 3 days")),
        ({"a"}, ("void", "more failures than approved: b")),
        (set(), ("void", "a different failure than the approved one: a, b")),
    ],
)
def test_an_approval_can_list_the_checks_that_may_fail(checks, rulings):
    found, approved = rule(failing("HARD_FAIL", "a", "b"), approval(checks=frozenset(checks)))
    assert (found, bool(approved)) == ([rulings], rulings[0] == "active")


def test_an_unreadable_trace_is_not_covered_by_approved_checks():
    trials = [make_trial("hard_fail", assertions=[make_assertion("failed", name="a")]), make_trial("error")]
    found, _ = rule(make_scenario("HARD_FAIL", trials=trials), approval(checks=frozenset({"a"})))
    assert found == [("void", "more failures than approved: a trial's trace")]


def unknown_check(name, *, required, outcome="not_evaluable"):
    return make_assertion(outcome, name=name, required=required)


def test_a_required_check_that_was_not_evaluated_is_not_approved():
    trials = [make_trial("hard_fail", assertions=[unknown_check("b", required=True)])]
    found, approved = rule(make_scenario("HARD_FAIL", trials=trials), approval())
    assert (found, approved) == ([("void", "the scenario can't be approved while b can't be evaluated")], set())


def test_one_that_failed_in_another_trial_is_approved():
    unknown = make_trial("hard_fail", assertions=[unknown_check("a", required=True)])
    failed = make_trial("hard_fail", assertions=[make_assertion("failed", name="a", required=True)])
    assert rule(make_scenario("HARD_FAIL", trials=[unknown, failed]), approval())[1] == {KEY}


def test_another_check_that_was_not_evaluated_needs_no_approval_until_it_fails():
    failed = make_assertion("failed", name="a", required=True)
    unknown = [make_trial("hard_fail", assertions=[failed, unknown_check("b", required=False)])]
    only_a = approval(checks=frozenset({"a"}))
    assert rule(make_scenario("HARD_FAIL", trials=unknown), only_a)[1] == {KEY}
    both = [make_trial("hard_fail", assertions=[failed, make_assertion("failed", name="b")])]
    assert rule(make_scenario("HARD_FAIL", trials=both), only_a)[0] == [("void", "more failures than approved: b")]


def test_without_a_run_only_the_date_decides():
    rulings = rule_by_date([approval(), approval(until=date(2026, 11, 20))], TODAY)
    assert [(each.status, each.message, each.days_left) for each in rulings] == [
        ("active", "expires in 3 days", 3),
        ("expired", "expired on 2026-11-20", -1),
    ]


def test_an_approval_expires_after_its_last_day():
    rulings = [("expired", "expired on 2026-11-24")]
    assert rule(failing(), approval(), today=date(2026, 11, 25)) == (rulings, frozenset())


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE"])
def test_an_unknown_result_is_never_approved(verdict):
    (rulings,), approved = rule(make_scenario(verdict), approval())
    assert (rulings[0], approved) == ("void", frozenset())
    assert verdict.replace("_", " ") in rulings[1]


def test_a_passing_scenario_leaves_its_approval_unused():
    rulings = [("unused", "the scenario passes without it (remove it once that is sure)")]
    assert rule(make_scenario("PASS"), approval()) == (rulings, frozenset())


def test_an_approval_without_a_matching_scenario_is_unused():
    rulings = [("unused", "the run has no such scenario")]
    assert rule(failing(), approval(scenario="other")) == (rulings, frozenset())
    assert rule(failing(), approval(suite="other")) == (rulings, frozenset())


def test_a_scenario_with_variants_is_approved_by_the_variant():
    scenario = failing(variant="fast")
    rulings = [("unused", "the scenario has variants, name one: fast")]
    assert rule(scenario, approval()) == (rulings, frozenset())
    assert rule(scenario, approval(variant="fast"))[1] == {KEY._replace(variant="fast")}


@pytest.mark.parametrize(("score", "status"), [(0.69, "void"), (0.7, "active"), (0.71, "active")])
def test_a_score_below_the_limit_is_not_approved(score, status):
    (rulings,), approved = rule(failing("FAIL", score=score, status="failed"), approval(least_score=0.7))
    assert rulings[0] == status
    assert (KEY in approved) == (status == "active")


def test_a_score_just_below_the_approved_one_is_shown_with_enough_digits():
    (rulings,), _ = rule(failing("FAIL", score=0.6999, status="failed"), approval(least_score=0.7))
    assert rulings[1] == "worse than approved: score 0.6999, at least 0.7 was approved"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("broken", "expires in 3 days"),
        ("regressed", "the change is regressed, but broken was approved"),
        ("unchanged", "the change is unchanged, but broken was approved"),
        (None, "nothing was compared, but broken was approved"),
    ],
)
def test_an_approval_of_a_kind_of_change_covers_only_that_kind(kind, message):
    changes = {KEY: Change(kind, "so")} if kind else {}
    (rulings,), approved = rule(failing(), approval(change="broken"), changes=changes)
    assert rulings[1] == message
    assert bool(approved) == (kind == "broken")


def test_another_trace_than_the_approved_one_is_not_covered():
    scenario = failing()
    scenario.trials[0].trace.sha256 = "b" * 64
    rulings = [("void", "the failing trace is not the approved one")]
    assert rule(scenario, approval(traces=frozenset({"a" * 64}))) == (rulings, frozenset())
    assert rule(scenario, approval(traces=frozenset({"a" * 64, "b" * 64})))[1] == {KEY}


def test_passing_traces_need_no_approval():
    scenario = failing()
    scenario.trials[0].trace.sha256 = "b" * 64
    scenario.trials.append(make_trial("passed", number=1))
    assert rule(scenario, approval(traces=frozenset({"b" * 64})))[1] == {KEY}


def test_a_regressed_scenario_that_passes_can_be_approved():
    changes = {KEY: Change("regressed", "score 0.95 -> 0.85 (-0.10)")}
    assert rule(make_scenario("PASS"), approval(change="regressed"), changes=changes)[1] == {KEY}


def test_an_increased_cost_can_be_approved():
    changes = {KEY: Change("unchanged", "unchanged", increases=["cost +50%"])}
    assert rule(make_scenario("PASS"), approval(), changes=changes)[1] == {KEY}


# --- several of one scenario ----------------------------------------------------------------------------------


def test_an_approved_check_does_not_cover_another():
    rulings = [("void", "more failures than approved: b")]
    assert rule(failing("HARD_FAIL", "a", "b"), approval(assertion="a")) == (rulings, frozenset())


@pytest.mark.parametrize("written", ["not: a", "a"])
def test_an_approval_covers_a_check_that_must_not_hold__also_by_its_name_of_earlier_versions(written):
    rulings = [("active", "expires in 3 days")]
    assert rule(failing("HARD_FAIL", "not: a"), approval(assertion=written)) == (rulings, {KEY})


@pytest.mark.parametrize("name", ["when a: b", "not: when a: b", "when it applies: b"])
def test_an_approval_covers_a_conditional_check__also_by_its_name_of_earlier_versions(name):
    rulings = [("active", "expires in 3 days")]
    assert rule(failing("HARD_FAIL", name, check_type="when"), approval(assertion="when")) == (rulings, {KEY})


@pytest.mark.parametrize(
    "failed", [failing("HARD_FAIL", "when a: b"), failing("HARD_FAIL", "loans", check_type="when")]
)
def test_an_approval_of_a_conditional_check_does_not_cover_one_that_had_another_name(failed):
    assert rule(failed, approval(assertion="when"))[1] == frozenset()


def test_an_approval_of_a_check_that_must_not_hold_does_not_cover_its_opposite():
    assert rule(failing("HARD_FAIL", "a"), approval(assertion="not: a"))[1] == frozenset()


def test_approvals_of_all_failing_checks_cover_a_scenario():
    both = approval(assertion="a"), approval(assertion="b")
    rulings = [("active", "expires in 3 days")] * 2
    assert rule(failing("HARD_FAIL", "a", "b"), *both) == (rulings, {KEY})


def test_the_approval_of_a_passing_check_is_unused():
    rulings = [("unused", "the check b does not fail")]
    assert rule(failing("HARD_FAIL", "a"), approval(assertion="b")) == (rulings, frozenset())


def test_an_approval_of_the_whole_scenario_covers_every_check():
    found, approved = rule(failing("HARD_FAIL", "a", "b"), approval(), approval(assertion="a"))
    assert [status for status, _ in found] == ["active", "active"]
    assert approved == {KEY}


def test_an_expired_approval_is_not_combined_with_another_one():
    gone = approval(assertion="b", until=date(2026, 1, 1))
    found, approved = rule(failing("HARD_FAIL", "a", "b"), approval(assertion="a"), gone)
    assert ([status for status, _ in found], approved) == (["void", "expired"], frozenset())


def test_an_unreadable_trial_is_not_a_failure_of_a_check():
    scenario = failing("HARD_FAIL", "a")
    scenario.trials.append(make_trial("error", number=1, reason="damaged"))
    rulings = [("void", "more failures than approved: a trial's trace")]
    assert rule(scenario, approval(assertion="a")) == (rulings, frozenset())


def test_many_other_failures_are_counted():
    (rulings,), _ = rule(failing("HARD_FAIL", "a", "b", "c", "d", "e"), approval(assertion="a"))
    assert rulings[1] == "more failures than approved: b, c, d and 1 more"


# --- of a pull request --------------------------------------------------------------------------------------


def test_an_approval_that_the_pull_request_proposes_is_shown_and_not_used():
    found = rule_on_approvals(make_run(failing()), {}, Approvals((), (approval(),)), TODAY)
    assert [(each.status, each.days_left) for each in found.rulings] == [("proposed", 3)]
    assert not found.approved


def test_only_approvals_missing_from_the_base_are_proposals():
    moved = replace(approval(), location=("elsewhere", 9, 1))
    looser = approval(least_score=0.1)
    assert find_proposals([approval()], [moved, looser]) == (looser,)


@pytest.mark.parametrize(
    "change",
    [
        *({"variant": "v"}, {"assertion": "a"}, {"change": "broken"}, {"least_score": 0.5}),
        *({"reason": "other"}, {"who": "Ben"}, {"until": date(2027, 1, 1)}, {"traces": frozenset({"a"})}),
    ],
)
def test_a_changed_approval_is_a_proposal(change):
    assert find_proposals([approval()], [approval(**change)]) == (approval(**change),)


# --- the decision ---------------------------------------------------------------------------------------------


WORDS = ["hard_fail", "new_hard_fail", "below_threshold", "broken", "regression"]


def decide_run(scenario, words, approved, changes=None):
    policies = {"support": Policy(fail_on=words)}
    comparison = Comparison(changes or {}, [])
    return decide(make_run(scenario), comparison, None, Policies(policies, Policy()), approved=approved)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("verdict", ["HARD_FAIL", "FAIL"])
def test_an_approved_scenario_fails_the_gate_by_no_fail_on_word_that_can_be_approved(word, verdict):
    changes = {KEY: Change("broken", "it broke", previous_verdict="PASS")}
    assert decide_run(failing(verdict), [word], {KEY}, changes).exit_code == 0
    expected = 0 if (word, verdict) in {("hard_fail", "FAIL"), ("new_hard_fail", "FAIL")} else 1
    expected = 0 if (word, verdict) == ("below_threshold", "HARD_FAIL") else expected
    assert decide_run(failing(verdict), [word], frozenset(), changes).exit_code == expected


def test_stale_evidence_is_not_approved_with_the_failure():
    scenario = failing()
    scenario.trials[0].trace.stale = "it is 9 days old, at most 7d is allowed"
    assert decide_run(scenario, ["stale_evidence"], {KEY}).exit_code == 1


def test_an_approval_does_not_cover_other_scenarios():
    run = make_run(failing(), failing(scenario_id="s2"))
    policies = {"support": Policy()}
    found = decide(run, None, None, Policies(policies, Policy()), approved={KEY})
    assert [(reason.code, reason.scenario) for reason in found.reasons] == [("hard_fail", "s2")]


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True),
    st.lists(st.sampled_from(["a", "b", "c", None]), unique=True),
)
def test_a_scenario_is_approved_exactly_if_every_failure_of_it_is(checks, approved):
    _, keys = rule(failing("HARD_FAIL", *checks), *(approval(assertion=name) for name in approved))
    assert (KEY in keys) == (None in approved or set(checks) <= set(approved))
