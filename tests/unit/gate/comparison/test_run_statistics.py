from __future__ import annotations

from run_builders import make_assertion, make_run, make_scenario, make_suite, make_trial

from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.run_statistics import compute_run_statistics
from evalgate.gate.comparison.scenario_outcome import outcomes_from_run
from evalgate.models.run.run import Run


def test_statistics_of_a_run_without_a_baseline_have_no_deltas():
    found = compute_run_statistics(make_run(make_scenario()), None)
    assert (found.run.statistics.scenarios, found.run.delta) == (1, None)
    assert found.suites["support"].statistics == found.run.statistics


def test_deltas_count_only_scenarios_of_both_runs():
    before = make_run(make_scenario("PASS", "a"), make_scenario("PASS", "gone"))
    now = make_run(make_scenario("FAIL", "a"), make_scenario("PASS", "new"))
    comparison = compare(outcomes_from_run(now), outcomes_from_run(before), {})
    found = compute_run_statistics(now, comparison).run
    assert (found.statistics.scenarios, found.statistics.pass_rate) == (2, 0.5)
    assert (found.delta.scenarios, found.delta.deltas["pass_rate"]) == (1, -1.0)


def test_statistics_are_per_suite_and_for_the_run():
    lost = make_assertion("failed", name="slow", weight=3.0)
    run = Run(
        [
            make_suite(make_scenario("PASS", "a"), name="one"),
            make_suite(make_scenario("FAIL", "a", trials=[make_trial("failed", assertions=[lost])]), name="two"),
        ]
    )
    found = compute_run_statistics(run, compare(outcomes_from_run(run), outcomes_from_run(run), {}))
    assert {name: each.statistics.pass_rate for name, each in found.suites.items()} == {
        "one": 1.0,
        "two": 0.0,
    }
    assert found.run.statistics.pass_rate == 0.5
    assert [(check.suite, check.name) for check in found.run.lost_checks] == [("two", "slow")]
    assert found.suites["one"].lost_checks == []
    assert found.run.delta.deltas["pass_rate"] == 0.0


def test_empty_run_has_no_statistics():
    assert compute_run_statistics(Run([]), None).run.statistics.pass_rate is None
