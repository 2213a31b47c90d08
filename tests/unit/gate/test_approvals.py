"""Approvals: each rule on its own, several of one scenario together, and what the decision makes of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_assertion, make_run, make_scenario, make_trial

from evalgate.gate.decision.approvals import find_proposals, rule_by_date, rule_on_approvals
from evalgate.gate.decision.decide import decide
from evalgate.models.approvals.approval import Approval, Approvals
from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
from evalgate.suite.policy import Policy

TODAY = date(2026, 11, 21)
KEY = ScenarioKey("support", "s1", None)


def approval(**given):
    narrow = dict.fromkeys(("variant", "assertion", "change", "least_score", "location"))
    written = {"suite": "support", "scenario": "s1", "reason": "outage", "who": "Ana"}
    bounds = {"until": date(2026, 11, 24), "traces": frozenset()}
    return Approval(**{**narrow, **written, **bounds, **given})


def failing(verdict="HARD_FAIL", *checks, score=None, status="hard_fail", **more):
    assertions = [make_assertion("failed", name=name, required=True) for name in checks or ("a",)]
    return make_scenario(verdict, trials=[make_trial(status, score, assertions=assertions)], **more)


def ruled(scenario, *approvals, changes=None, today=TODAY):
    found = rule_on_approvals(make_run(scenario), changes or {}, Approvals(tuple(approvals)), today)
    return [(ruling.status, ruling.message) for ruling in found.rulings], found.approved


# --- one approval ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ["HARD_FAIL", "FAIL", "PARTIAL"])
def test_a_failing_scenario_is_approved_until_its_day(verdict):
    assert ruled(failing(verdict), approval()) == ([("active", "expires in 3 days")], {KEY})


@pytest.mark.parametrize(
    ("day", "message"), [(23, "expires in 1 day"), (24, "expires today"), (1, "expires in 23 days")]
)
def test_the_days_that_are_left_are_told(day, message):
    assert ruled(failing(), approval(), today=date(2026, 11, day)) == ([("active", message)], {KEY})


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ({"a", "b"}, ("active", "expires in 3 days")),
        ({"a"}, ("void", "more fails than was approved: b")),
        (set(), ("void", "more fails than was approved: a, b")),
    ],
)
def test_all_that_may_fail_can_be_named(checks, told):
    found, approved = ruled(failing("HARD_FAIL", "a", "b"), approval(checks=frozenset(checks)))
    assert (found, bool(approved)) == ([told], told[0] == "active")


def test_a_recording_that_can_not_be_read_is_more_than_checks_that_fail():
    trials = [make_trial("hard_fail", assertions=[make_assertion("failed", name="a")]), make_trial("error")]
    found, _ = ruled(make_scenario("HARD_FAIL", trials=trials), approval(checks=frozenset({"a"})))
    assert found == [("void", "more fails than was approved: a trial's recording")]


def test_without_a_run_the_day_alone_decides():
    told = rule_by_date([approval(), approval(until=date(2026, 11, 20))], TODAY)
    assert [(each.status, each.message, each.days_left) for each in told] == [
        ("active", "expires in 3 days", 3),
        ("expired", "expired on 2026-11-20", -1),
    ]


def test_an_approval_is_over_the_day_after():
    told = [("expired", "expired on 2026-11-24")]
    assert ruled(failing(), approval(), today=date(2026, 11, 25)) == (told, frozenset())


@pytest.mark.parametrize("verdict", ["MISSING", "ERROR", "NOT_EVALUABLE"])
def test_what_is_not_known_is_never_approved(verdict):
    (told,), approved = ruled(make_scenario(verdict), approval())
    assert (told[0], approved) == ("void", frozenset())
    assert verdict.replace("_", " ") in told[1]


def test_a_passing_scenario_leaves_its_approval_unused():
    told = [("unused", "the scenario passes: it is no longer needed")]
    assert ruled(make_scenario("PASS"), approval()) == (told, frozenset())


def test_an_approval_of_nothing_is_unused():
    told = [("unused", "the run has no such scenario")]
    assert ruled(failing(), approval(scenario="other")) == (told, frozenset())
    assert ruled(failing(), approval(suite="other")) == (told, frozenset())


def test_a_scenario_with_variants_is_approved_by_the_variant():
    scenario = failing(variant="fast")
    told = [("unused", "the scenario has variants, name one: fast")]
    assert ruled(scenario, approval()) == (told, frozenset())
    assert ruled(scenario, approval(variant="fast"))[1] == {KEY._replace(variant="fast")}


@pytest.mark.parametrize(("score", "status"), [(0.69, "void"), (0.7, "active"), (0.71, "active")])
def test_a_limit_holds_the_score_from_below(score, status):
    (told,), approved = ruled(failing("FAIL", score=score, status="failed"), approval(least_score=0.7))
    assert told[0] == status
    assert (KEY in approved) == (status == "active")


def test_a_score_just_worse_than_approved_is_shown_to_be_so():
    (told,), _ = ruled(failing("FAIL", score=0.6999, status="failed"), approval(least_score=0.7))
    assert told[1] == "worse than approved: score 0.6999, approved is 0.7"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("broken", "expires in 3 days"),
        ("regressed", "the change is regressed, approved is broken"),
        ("unchanged", "the change is unchanged, approved is broken"),
        (None, "nothing was compared, approved is broken"),
    ],
)
def test_a_change_is_approved_only_where_it_is_that_one(kind, message):
    changes = {KEY: Change(kind, "so")} if kind else {}
    (told,), approved = ruled(failing(), approval(change="broken"), changes=changes)
    assert told[1] == message
    assert bool(approved) == (kind == "broken")


def test_another_recording_is_not_the_one_approved():
    scenario = failing()
    scenario.trials[0].trace.sha256 = "b" * 64
    told = [("void", "another recording fails than the one approved")]
    assert ruled(scenario, approval(traces=frozenset({"a" * 64}))) == (told, frozenset())
    assert ruled(scenario, approval(traces=frozenset({"a" * 64, "b" * 64})))[1] == {KEY}


def test_recordings_that_pass_need_no_approval():
    scenario = failing()
    scenario.trials[0].trace.sha256 = "b" * 64
    scenario.trials.append(make_trial("passed", number=1))
    assert ruled(scenario, approval(traces=frozenset({"b" * 64})))[1] == {KEY}


def test_a_regressed_scenario_that_passes_can_be_approved():
    changes = {KEY: Change("regressed", "score 0.95 -> 0.85 (-0.10)")}
    assert ruled(make_scenario("PASS"), approval(change="regressed"), changes=changes)[1] == {KEY}


def test_a_cost_that_grew_can_be_approved():
    changes = {KEY: Change("unchanged", "as before", increases=["cost +50%"])}
    assert ruled(make_scenario("PASS"), approval(), changes=changes)[1] == {KEY}


# --- several of one scenario ----------------------------------------------------------------------------------


def test_an_approved_check_does_not_cover_another():
    told = [("void", "more fails than was approved: b")]
    assert ruled(failing("HARD_FAIL", "a", "b"), approval(assertion="a")) == (told, frozenset())


def test_approvals_of_all_its_failing_checks_cover_a_scenario():
    both = approval(assertion="a"), approval(assertion="b")
    told = [("active", "expires in 3 days")] * 2
    assert ruled(failing("HARD_FAIL", "a", "b"), *both) == (told, {KEY})


def test_a_check_that_holds_leaves_its_approval_unused():
    told = [("unused", "the check b does not fail")]
    assert ruled(failing("HARD_FAIL", "a"), approval(assertion="b")) == (told, frozenset())


def test_an_approval_of_the_whole_scenario_covers_every_check():
    found, approved = ruled(failing("HARD_FAIL", "a", "b"), approval(), approval(assertion="a"))
    assert [status for status, _ in found] == ["active", "active"]
    assert approved == {KEY}


def test_an_expired_approval_does_not_help_another_one():
    gone = approval(assertion="b", until=date(2026, 1, 1))
    found, approved = ruled(failing("HARD_FAIL", "a", "b"), approval(assertion="a"), gone)
    assert ([status for status, _ in found], approved) == (["void", "expired"], frozenset())


def test_a_trial_that_could_not_be_read_is_no_failure_of_a_check():
    scenario = failing("HARD_FAIL", "a")
    scenario.trials.append(make_trial("error", number=1, reason="damaged"))
    told = [("void", "more fails than was approved: a trial's recording")]
    assert ruled(scenario, approval(assertion="a")) == (told, frozenset())


def test_many_other_failures_are_counted():
    (told,), _ = ruled(failing("HARD_FAIL", "a", "b", "c", "d", "e"), approval(assertion="a"))
    assert told[1] == "more fails than was approved: b, c, d and 1 more"


# --- a pull request's own -------------------------------------------------------------------------------------


def test_what_a_pull_request_proposes_is_shown_and_does_not_count():
    found = rule_on_approvals(make_run(failing()), {}, Approvals((), (approval(),)), TODAY)
    assert [(each.status, each.days_left) for each in found.rulings] == [("proposed", 3)]
    assert not found.approved


def test_only_what_its_base_lacks_is_proposed():
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
def test_an_approval_that_was_changed_is_a_proposal(change):
    assert find_proposals([approval()], [approval(**change)]) == (approval(**change),)


# --- the decision ---------------------------------------------------------------------------------------------


WORDS = ["hard_fail", "new_hard_fail", "below_threshold", "broken", "regression"]


def decided(scenario, words, approved, changes=None):
    policies = {"support": Policy(fail_on=words)}
    comparison = Comparison(changes or {}, [])
    return decide(
        make_run(scenario),
        comparison,
        None,
        policies,
        run_policy=Policy(),
        report_only=False,
        approved=approved,
    )


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("verdict", ["HARD_FAIL", "FAIL"])
def test_an_approved_scenario_gates_by_no_word_that_can_be_approved(word, verdict):
    changes = {KEY: Change("broken", "it broke", previous_verdict="PASS")}
    assert decided(failing(verdict), [word], {KEY}, changes).exit_code == 0
    expected = 0 if (word, verdict) in {("hard_fail", "FAIL"), ("new_hard_fail", "FAIL")} else 1
    expected = 0 if (word, verdict) == ("below_threshold", "HARD_FAIL") else expected
    assert decided(failing(verdict), [word], frozenset(), changes).exit_code == expected


def test_stale_evidence_is_not_approved_with_the_failure():
    scenario = failing()
    scenario.trials[0].trace.stale = "it is 9 days old, 7d is the most"
    assert decided(scenario, ["stale_evidence"], {KEY}).exit_code == 1


def test_an_approval_does_not_help_the_other_scenarios():
    run = make_run(failing(), failing(scenario_id="s2"))
    policies = {"support": Policy()}
    found = decide(run, None, None, policies, run_policy=Policy(), report_only=False, approved={KEY})
    assert [(reason.code, reason.scenario) for reason in found.reasons] == [("hard_fail", "s2")]


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True),
    st.lists(st.sampled_from(["a", "b", "c", None]), unique=True),
)
def test_a_scenario_is_approved_exactly_where_every_failure_of_it_is(checks, approved):
    _, keys = ruled(failing("HARD_FAIL", *checks), *(approval(assertion=name) for name in approved))
    assert (KEY in keys) == (None in approved or set(checks) <= set(approved))
