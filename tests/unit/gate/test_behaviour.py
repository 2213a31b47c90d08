from __future__ import annotations

import pytest
from results_builder import a_scenario, a_suite, a_trial, results
from run_builders import make_scenario, make_suite, make_trial

from evalgate.gate.trajectory.trial_pairs import add_tool_calls
from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey
from evalgate.models.run.run import Run
from evalgate.reporting.results.standings import build_baseline_from_results

KEY = ScenarioKey("support", "refund", None)
EARLIER = [
    a_trial(0, "failed", tool_calls=["guess"]),
    a_trial(1, tool_calls=["look_up"]),
    a_trial(2, tool_calls=["ask", "look_up"]),
]


def a_run(*trials, verdict="FAIL", id_="refund"):
    return Run([make_suite(make_scenario(verdict, id_, trials=list(trials)), name="support")])


def trial(status, number, *calls, score=None):
    made = make_trial(status, score, number=number)
    made.tool_calls = list(calls)
    return made


def compared(run, kind="broken", *, earlier=EARLIER, key=KEY):
    comparison = Comparison({key: Change(kind, "")}, [])
    before = results([a_suite("support", [a_scenario("refund", trials=earlier)])])
    add_tool_calls(comparison, run, build_baseline_from_results(before))
    return comparison.changes[key].calls


def test_the_worst_trial_stands_beside_the_passed_one_of_its_number():
    run = a_run(trial("passed", 0, "look_up"), trial("failed", 2, "x", score=0.1), trial("failed", 1, score=0.4))
    assert compared(run) == (2, ["ask", "look_up"], 2, ["x"])


def test_where_its_number_failed_before_the_first_that_passed_stands_beside_it():
    assert compared(a_run(trial("failed", 0, "x"))) == (1, ["look_up"], 0, ["x"])


def test_where_none_passed_before_any_will_do():
    assert compared(a_run(trial("failed", 1, "x")), earlier=EARLIER[:1]) == (0, ["guess"], 1, ["x"])


@pytest.mark.parametrize(("verdict", "kind"), [("PASS", "unchanged"), ("PASS", "fixed"), ("PASS", "improved")])
def test_of_a_scenario_that_is_well_nothing_is_told(verdict, kind):
    assert compared(a_run(trial("passed", 0, "x"), verdict=verdict), kind) is None


@pytest.mark.parametrize(("verdict", "kind"), [("FAIL", "unchanged"), ("PASS", "regressed"), ("PASS", "inconclusive")])
def test_of_a_scenario_that_fails_or_got_worse_it_is_told(verdict, kind):
    assert compared(a_run(trial("passed", 1, "x"), verdict=verdict), kind) == (1, ["look_up"], 1, ["x"])


def test_without_trials_on_a_side_nothing_is_told():
    assert compared(a_run(verdict="MISSING")) is None
    assert compared(a_run(trial("failed", 0, "x")), earlier=[]) is None


def test_a_scenario_the_baseline_lacks_has_nothing_to_stand_beside():
    key = ScenarioKey("support", "other", None)
    assert compared(a_run(trial("failed", 0, "x"), id_="other"), "new", key=key) is None
