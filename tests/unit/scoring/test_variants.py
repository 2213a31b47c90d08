"""Variants side by side."""

from builders import make_trace
from judging import assess
from run_builders import make_assertion, make_scenario, make_trial

from evalgate.scoring.variants import compare_variants

CALLED = {"type": "expected_tool", "expected_tool": "schedule", "min_calls": 2}
NOT_CALLED = {"type": "expected_tool", "expected_tool": None, "tool": "schedule"}


def one(*trials, verdict="PASS"):
    (figures,) = compare_variants([make_scenario(verdict, trials=trials, variant="v")])
    return figures


def judged(raw, *calls):
    return make_trial(assertions=[assess(raw, make_trace(calls=calls))])


def shares(*trials):
    figures = one(*trials)
    return tuple(figures.correct_tool), tuple(figures.correct_count)


def test_scenarios_without_variant__are_in_no_line():
    assert compare_variants([make_scenario(), make_scenario("FAIL")]) == []


def test_variants__stand_in_the_order_in_which_they_come_up():
    scenarios = [make_scenario(scenario_id=id_, variant=name) for id_ in "xy" for name in ("b", "a")]
    scenarios.append(make_scenario("MISSING", "z", variant="a"))
    found = [(each.name, each.scenarios, each.passed, each.trials) for each in compare_variants(scenarios)]
    assert found == [("b", 2, 2, 2), ("a", 3, 2, 2)]


def test_correct_tool__is_any_call_of_it_and_correct_count_as_many_as_expected():
    assert shares(judged(CALLED)) == ((0, 1), (0, 1))
    assert shares(judged(CALLED, "search", "search")) == ((0, 1), (0, 1))
    assert shares(judged(CALLED, "schedule")) == ((1, 1), (0, 1))
    assert shares(judged(CALLED, "schedule", "schedule")) == ((1, 1), (1, 1))
    assert shares(judged(CALLED, "schedule"), judged(CALLED)) == ((1, 2), (0, 2))


def test_no_tool_expected__is_correct_in_both_where_it_was_not_called():
    assert shares(judged(NOT_CALLED, "search")) == ((1, 1), (1, 1))
    assert shares(judged(NOT_CALLED, "schedule")) == ((0, 1), (0, 1))


def test_demand_turned_round__is_never_the_correct_tool_for_being_called():
    turned = {"not": CALLED}
    assert shares(judged(turned, "schedule", "schedule")) == ((0, 1), (0, 1))
    assert shares(judged(turned, "search")) == ((1, 1), (1, 1))


def test_trials_in_which_it_could_not_be_told__are_left_out_of_both_numbers():
    unknown = make_trial("not_evaluable", assertions=[make_assertion("not_evaluable")])
    unknown.assertions[0].type = "expected_tool"
    other = make_trial(assertions=[make_assertion()])
    unreadable = make_trial("error")
    assert shares(unknown, other, unreadable) == ((0, 0), (0, 0))
    assert shares(unknown, other, unreadable, judged(CALLED, "schedule")) == ((1, 1), (0, 1))


def test_several_demands_on_a_trial__must_all_hold():
    both = make_trace(calls=["schedule", "schedule"])
    search = {"type": "expected_tool", "expected_tool": "search"}
    trial = make_trial(assertions=[assess(CALLED, both), assess(search, both)])
    assert shares(trial) == ((0, 1), (0, 1))


def test_means__are_per_trial_and_unknown_where_one_is():
    first = make_trial(cost_usd=0.25, latency_seconds=1.0, total_tokens=10)
    second = make_trial(cost_usd=0.75, latency_seconds=None, total_tokens=21)
    first.input_tokens, second.input_tokens = 8, 9
    figures = one(first, second)
    assert (figures.cost_usd, figures.latency_seconds) == (0.5, None)
    assert (figures.input_tokens, figures.output_tokens, figures.total_tokens) == (8.5, None, 15.5)


def test_variant_without_any_trial__knows_nothing():
    figures = one(verdict="MISSING")
    assert (figures.scenarios, figures.passed, figures.trials, figures.cost_usd) == (1, 0, 0, None)
    assert (figures.correct_tool, figures.correct_count) == ((0, 0), (0, 0))
