from __future__ import annotations

import pytest
from results_builder import a_scenario, a_suite, a_trial, results
from run_builders import make_scenario, make_suite, make_trial

from evalgate.gate.trajectory.trial_pairs import MOST_COUNTED, add_explaining_figures, add_tool_calls
from evalgate.models.comparison.comparison import CallsDiff, Change, Comparison, GrownFigure, ScenarioKey
from evalgate.models.run.run import Run
from evalgate.reporting.results.load_results import convert_baseline_run

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


def pair_calls(run, kind="broken", *, earlier=EARLIER, key=KEY):
    comparison = Comparison({key: Change(kind, "")}, [])
    before = results([a_suite("support", [a_scenario("refund", trials=earlier)])])
    add_tool_calls(comparison, run, convert_baseline_run(before))
    return comparison.changes[key].calls


def test_the_worst_trial_is_paired_with_the_passed_one_of_its_number():
    run = a_run(trial("passed", 0, "look_up"), trial("failed", 2, "x", score=0.1), trial("failed", 1, score=0.4))
    assert pair_calls(run) == CallsDiff(2, ["ask", "look_up"], 2, ["x"])


def test_if_its_number_failed_in_the_baseline_it_is_paired_with_the_first_passed_trial():
    assert pair_calls(a_run(trial("failed", 0, "x"))) == CallsDiff(1, ["look_up"], 0, ["x"])


def test_if_no_trial_of_the_baseline_passed_it_is_paired_with_any():
    assert pair_calls(a_run(trial("failed", 1, "x")), earlier=EARLIER[:1]) == CallsDiff(0, ["guess"], 1, ["x"])


def test_a_scenario_that_passes_as_before_is_compared_if_its_calls_differ():
    same, other = trial("passed", 0, "ask", "look_up"), trial("passed", 1, "look_up", "ask")
    assert pair_calls(a_run(same, other, verdict="PASS"), "unchanged") == CallsDiff(
        1, ["look_up"], 1, ["look_up", "ask"]
    )
    assert pair_calls(a_run(same, verdict="PASS"), "unchanged") is None


@pytest.mark.parametrize(("verdict", "kind"), [("PASS", "fixed"), ("PASS", "improved")])
def test_a_scenario_that_did_not_get_worse_is_not_compared(verdict, kind):
    assert pair_calls(a_run(trial("passed", 0, "x"), verdict=verdict), kind) is None


@pytest.mark.parametrize(("verdict", "kind"), [("FAIL", "unchanged"), ("PASS", "regressed"), ("PASS", "inconclusive")])
def test_a_scenario_that_fails_or_got_worse_is_compared(verdict, kind):
    assert pair_calls(a_run(trial("passed", 1, "x"), verdict=verdict), kind) == CallsDiff(1, ["look_up"], 1, ["x"])


def test_without_trials_in_one_of_the_runs_nothing_is_compared():
    assert pair_calls(a_run(verdict="MISSING")) is None
    assert pair_calls(a_run(trial("failed", 0, "x")), earlier=[]) is None


def test_a_scenario_missing_from_the_baseline_has_no_pair():
    key = ScenarioKey("support", "other", None)
    assert pair_calls(a_run(trial("failed", 0, "x"), id_="other"), "new", key=key) is None


def test_tokens_that_are_known_and_numbers_of_calls_stand_beside_the_costs_that_grew_most():
    keys = [ScenarioKey("support", f"s{number}", None) for number in range(MOST_COUNTED + 2)]
    changes = {key: Change("unchanged", "", grown=[GrownFigure("cost", 1, 3 + at)]) for at, key in enumerate(keys)}
    changes[keys[-1]].grown = ()
    made = [make_scenario("PASS", key.id, trials=[trial("passed", 0, "x", "x"), trial("passed", 1)]) for key in keys]
    for scenario in made:
        scenario.trials[0].input_tokens, scenario.trials[1].input_tokens = 100, 300
    earlier = [a_scenario(key.id, trials=[a_trial(0, tool_calls=["x", "x", "x"])]) for key in keys]
    before = convert_baseline_run(results([a_suite("support", earlier)]))
    add_explaining_figures(Comparison(changes, []), Run([make_suite(*made, name="support")]), before)
    found = [list(each.grown) for each in changes.values()]
    assert found[1] == [GrownFigure("cost", 1, 4), GrownFigure("input_tokens", 800, 200), GrownFigure("calls", 3, 1)]
    assert (found[0], found[-1]) == ([GrownFigure("cost", 1, 3)], [])
