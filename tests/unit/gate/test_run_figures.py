from __future__ import annotations

from run_builders import make_assertion, make_run, make_scenario, make_suite, make_trial

from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.run_statistics import figures_of_run
from evalgate.gate.comparison.scenario_outcome import outcomes_of_run
from evalgate.models.run.run import Run


def test_figures_of_a_run_that_was_compared_with_nothing_have_no_moves():
    found = figures_of_run(make_run(make_scenario()), None)
    assert (found.run.figures.scenarios, found.run.moves) == (1, None)
    assert found.suites["support"].figures == found.run.figures


def test_moves_count_only_scenarios_that_both_sides_have():
    before = make_run(make_scenario("PASS", "a"), make_scenario("PASS", "gone"))
    now = make_run(make_scenario("FAIL", "a"), make_scenario("PASS", "new"))
    comparison = compare(outcomes_of_run(now), outcomes_of_run(before), {})
    found = figures_of_run(now, comparison).run
    assert (found.figures.scenarios, found.figures.pass_rate) == (2, 0.5)
    assert (found.moves.scenarios, found.moves.moved["pass_rate"]) == (1, -1.0)


def test_suites_are_told_apart_and_added_up():
    lost = make_assertion("failed", name="slow", weight=3.0)
    run = Run(
        [
            make_suite(make_scenario("PASS", "a"), name="one"),
            make_suite(
                make_scenario("FAIL", "a", trials=[make_trial("failed", assertions=[lost])]), name="two"
            ),
        ]
    )
    found = figures_of_run(run, compare(outcomes_of_run(run), outcomes_of_run(run), {}))
    assert {name: each.figures.pass_rate for name, each in found.suites.items()} == {"one": 1.0, "two": 0.0}
    assert found.run.figures.pass_rate == 0.5
    assert [(check.suite, check.name) for check in found.run.lost_checks] == [("two", "slow")]
    assert found.suites["one"].lost_checks == []
    assert found.run.moves.moved["pass_rate"] == 0.0


def test_run_of_nothing_has_no_figures():
    assert figures_of_run(Run([]), None).run.figures.pass_rate is None
