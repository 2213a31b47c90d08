"""Quarantine: what it matches, how long it is active, and that it does not block."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_run, make_scenario, make_suite, make_trial

from evalgate.gate.common.scenarios import apply_quarantines, covers, too_long
from evalgate.gate.decision.decide import RULES, decide
from evalgate.models.comparison.comparison import BaselineInfo, Change, Comparison, ScenarioKey
from evalgate.models.comparison.weakening import MAX_DAYS, Quarantine
from evalgate.models.run.run import Run
from evalgate.suite.policy import Policies, Policy

TODAY = date(2026, 3, 1)
EVERY_WORD = [*RULES]


def a_quarantine(scenario="b", *, variant=None, days=3):
    return Quarantine(scenario, variant, "flaky", TODAY + timedelta(days=days), None, None)


def apply_and_list(suite, *quarantines):
    return [(each.status, each.message) for each in apply_quarantines(suite, quarantines, TODAY)]


def decide_run(run, words=("hard_fail",), changes=None, **policy):
    policies = {suite.name: Policy(fail_on=list(words), **policy) for suite in run.suites}
    comparison = None if changes is None else Comparison(changes, [])
    info = None if changes is None else BaselineInfo("exact")
    return decide(run, comparison, info, Policies(policies, Policy(**policy)))


def in_quarantine(verdict, name="b"):
    scenario = make_scenario(verdict, name, reason="it was so")
    scenario.quarantined = True
    return scenario


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (3, ("active", "expires in 3 days")),
        (1, ("active", "expires in 1 day")),
        (0, ("active", "expires today")),
        (-1, ("expired", "expired on 2026-02-28: its scenarios block again")),
    ],
)
def test_quarantine_is_active_through_its_last_day(days, expected):
    suite = make_suite(make_scenario("FAIL", "a"), make_scenario("FAIL", "b"))
    assert apply_and_list(suite, a_quarantine(days=days)) == [expected]
    assert [each.quarantined for each in suite.scenarios] == [False, days >= 0]


def test_a_star_is_a_wildcard_and_brackets_are_literal():
    suite = make_suite(*(make_scenario("FAIL", name) for name in ("ab", "a[b]", "x")))
    apply_quarantines(suite, [a_quarantine("a*b]")], TODAY)
    assert [each.id for each in suite.scenarios if each.quarantined] == ["a[b]"]


def test_quarantine_covers_one_variant_or_all_of_them():
    def of(variant):
        suite = make_suite(make_scenario("FAIL", "b", variant="x"), make_scenario("FAIL", "b", variant="y"))
        apply_quarantines(suite, [a_quarantine(variant=variant)], TODAY)
        return [each.quarantined for each in suite.scenarios]

    assert (of(None), of("y"), of("z")) == ([True, True], [False, True], [False, False])


def test_quarantine_without_a_matching_scenario_is_reported():
    assert apply_and_list(make_suite(make_scenario()), a_quarantine("gone")) == [
        ("unused", "the suite has no such scenario")
    ]


def test_an_expired_quarantine_does_not_undo_an_active_one():
    suite = make_suite(make_scenario("FAIL", "b"))
    assert [status for status, _ in apply_and_list(suite, a_quarantine(), a_quarantine(days=-4))] == [
        "active",
        "expired",
    ]
    assert suite.scenarios[0].quarantined


def test_quarantine_lasts_ninety_days_at_most():
    messages = [str(each) for each in too_long([a_quarantine(days=MAX_DAYS), a_quarantine(days=91)], TODAY)]
    assert messages == [
        "the quarantine of `b` would last 91 days, at most 90 are allowed (choose an earlier `until`; it can be extended later)"
    ]


@pytest.mark.parametrize("verdict", ["HARD_FAIL", "ERROR", "MISSING", "FAIL", "PARTIAL", "NOT_EVALUABLE"])
def test_no_verdict_of_a_quarantined_scenario_decides(verdict):
    change = Change("broken", "it broke", increases=["cost +90%"], previous_verdict="PASS")
    changes = {ScenarioKey("support", "b", None): change}
    run = make_run(make_scenario("PASS", "a"), in_quarantine(verdict))
    found = decide_run(run, EVERY_WORD, changes)
    assert (found.verdict, found.exit_code, found.reasons) == ("pass", 0, [])


def test_stale_traces_of_a_quarantined_scenario_do_not_decide():
    trial = make_trial()
    trial.trace.stale = "too old"
    aside = make_scenario("PASS", "b", trials=[trial])
    aside.quarantined = True
    assert decide_run(make_run(make_scenario("PASS", "a"), aside), ["stale_evidence"]).exit_code == 0


def test_scenarios_not_in_quarantine_still_decide():
    found = decide_run(make_run(make_scenario("HARD_FAIL", "a"), in_quarantine("HARD_FAIL")))
    assert [(each.code, each.scenario) for each in found.reasons] == [("hard_fail", "a")]


def test_run_with_all_scenarios_in_quarantine_cannot_be_judged():
    found = decide_run(make_run(in_quarantine("PASS", "a"), in_quarantine("FAIL")))
    assert (found.verdict, found.exit_code) == ("cannot_judge", 3)
    assert found.reasons[0].message == "no scenario could be evaluated (2 quarantined)"


def test_suite_with_all_scenarios_in_quarantine_does_not_pass_next_to_a_passing_one():
    run = Run([make_suite(make_scenario(), name="x"), make_suite(in_quarantine("PASS"), name="y")])
    found = decide_run(run)
    assert (found.exit_code, found.suite_verdicts) == (0, {"x": "pass", "y": "cannot_judge"})


def test_quarantined_scenarios_are_not_counted_in_min_evaluated():
    good, unknown = make_scenario("PASS", "a"), make_scenario("NOT_EVALUABLE", "c")
    assert decide_run(make_run(good, in_quarantine("MISSING")), min_evaluated=1.0).exit_code == 0
    run = make_run(good, unknown, *(in_quarantine("PASS", f"q{n}") for n in range(8)))
    assert decide_run(run, min_evaluated=0.6).exit_code == 3


VERDICTS = st.sampled_from(["PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "MISSING", "NOT_EVALUABLE"])


@given(st.lists(VERDICTS, min_size=1, max_size=5), st.lists(VERDICTS, max_size=5))
def test_a_run_is_decided_as_if_quarantined_scenarios_were_absent(counting, aside):
    with_it = make_run(
        *(make_scenario(verdict, f"a{n}") for n, verdict in enumerate(counting)),
        *(in_quarantine(verdict, f"q{n}") for n, verdict in enumerate(aside)),
    )
    without = make_run(*(make_scenario(verdict, f"a{n}") for n, verdict in enumerate(counting)))
    for run in (with_it, without):
        run.suites[0].traces = 1  # a quarantine changes no recordings
    found, alone = (decide_run(run, EVERY_WORD, min_evaluated=0.5) for run in (with_it, without))
    codes = [[(each.code, each.scenario) for each in each_of.reasons] for each_of in (found, alone)]
    assert (found.exit_code, codes[0]) == (alone.exit_code, codes[1])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (a_quarantine("b"), a_quarantine("b"), True),
        (a_quarantine("*"), a_quarantine("b"), True),
        (a_quarantine("b"), a_quarantine("*"), False),
        (a_quarantine("b", days=2), a_quarantine("b"), False),
        (a_quarantine("b"), a_quarantine("b", variant="x"), True),
        (a_quarantine("b", variant="x"), a_quarantine("b"), False),
    ],
)
def test_a_wider_quarantine_covers_a_narrower_one(one, other, expected):
    assert covers(one, other) is expected
