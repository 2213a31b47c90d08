from __future__ import annotations

from run_builders import make_assertion, make_run, make_scenario, make_suite, make_trial

from evalgate.gate.comparison.compare import compare
from evalgate.gate.comparison.outcomes import compute_run_statistics, outcomes_from_run
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


def outage(**amounts):
    return make_trial("not_measured", reason="the last model call failed: 429", **amounts)


def test_outages_count_by_their_known_cost_and_tokens_only():
    amounts = {"cost_usd": 0.5, "latency_seconds": 2.0, "total_tokens": 10}
    trials = [make_trial("passed", **amounts), outage(cost_usd=0.25, latency_seconds=60.0), outage(total_tokens=7)]
    found = compute_run_statistics(make_run(make_scenario("PASS", trials=trials)), None).run.statistics
    assert (found.trials, found.not_measured) == (1, 2)
    assert (found.cost_usd, found.cost_mean_usd) == (0.75, 0.5)
    assert (found.total_tokens, found.tokens_mean) == (17, 10.0)
    assert (found.latency_p50_s, found.latency_p95_s) == (2.0, 2.0)


def test_cost_of_outages_does_not_make_an_unknown_total_known():
    trials = [make_trial("passed"), outage(cost_usd=0.25)]
    found = compute_run_statistics(make_run(make_scenario("PASS", trials=trials)), None).run.statistics
    assert (found.cost_usd, found.total_tokens) == (None, None)
    run = make_run(make_scenario("NOT_EVALUABLE", trials=[outage(cost_usd=0.25)]))
    assert compute_run_statistics(run, None).run.statistics.cost_usd == 0.25


def test_deltas_are_over_what_both_sides_measured():
    before = make_run(make_scenario("PASS", "a", trials=[make_trial(cost_usd=0.5)]), make_scenario("PASS", "b"))
    trials = [make_trial(cost_usd=0.5), outage(cost_usd=0.25)]
    now = make_run(
        make_scenario("PASS", "a", trials=trials), make_scenario("NOT_EVALUABLE", "b", trials=[outage(cost_usd=1.0)])
    )
    found = compute_run_statistics(now, compare(outcomes_from_run(now), outcomes_from_run(before), {})).run
    assert (found.statistics.cost_usd, found.delta.scenarios) == (1.75, 1)
    assert (found.delta.deltas["cost_usd"], found.delta.deltas["pass_rate"]) == (0.0, 0.0)
