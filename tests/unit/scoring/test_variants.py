"""Variants side by side."""

from assess_assertion import assess
from builders import make_trace
from run_builders import make_assertion, make_scenario, make_trial

from evalgate.scoring.run_statistics import compare_variants

CALLED = {"type": "expected_tool", "expected_tool": "schedule", "min_calls": 2}
NOT_CALLED = {"type": "expected_tool", "expected_tool": None, "tool": "schedule"}


def one(*trials, verdict="PASS"):
    (figures,) = compare_variants([make_scenario(verdict, trials=trials, variant="v")])
    return figures


def judge_trial(raw, *calls):
    return make_trial(assertions=[assess(raw, make_trace(calls=calls))])


def shares(*trials):
    figures = one(*trials)
    return tuple(figures.correct_tool), tuple(figures.correct_count)


def test_scenarios_without_variant__are_not_listed():
    assert compare_variants([make_scenario(), make_scenario("FAIL")]) == []


def test_variants__are_in_order_of_first_appearance():
    scenarios = [make_scenario(scenario_id=id_, variant=name) for id_ in "xy" for name in ("b", "a")]
    scenarios.append(make_scenario("MISSING", "z", variant="a"))
    found = [(each.name, each.scenarios, each.passed, each.trials) for each in compare_variants(scenarios)]
    assert found == [("b", 2, 2, 2), ("a", 3, 2, 2)]


def test_correct_tool__is_any_call_of_it_and_correct_count_as_many_as_expected():
    assert shares(judge_trial(CALLED)) == ((0, 1), (0, 1))
    assert shares(judge_trial(CALLED, "search", "search")) == ((0, 1), (0, 1))
    assert shares(judge_trial(CALLED, "schedule")) == ((1, 1), (0, 1))
    assert shares(judge_trial(CALLED, "schedule", "schedule")) == ((1, 1), (1, 1))
    assert shares(judge_trial(CALLED, "schedule"), judge_trial(CALLED)) == ((1, 2), (0, 2))


def test_no_tool_expected__is_correct_in_both_if_it_was_not_called():
    assert shares(judge_trial(NOT_CALLED, "search")) == ((1, 1), (1, 1))
    assert shares(judge_trial(NOT_CALLED, "schedule")) == ((0, 1), (0, 1))


def test_negated_assertion__is_never_correct_if_the_tool_was_called():
    turned = {"not": CALLED}
    assert shares(judge_trial(turned, "schedule", "schedule")) == ((0, 1), (0, 1))
    assert shares(judge_trial(turned, "search")) == ((1, 1), (1, 1))


def test_trials_that_were_not_evaluable__are_left_out_of_both_numbers():
    unknown = make_trial("not_evaluable", assertions=[make_assertion("not_evaluable")])
    unknown.assertions[0].type = "expected_tool"
    other = make_trial(assertions=[make_assertion()])
    unreadable = make_trial("error")
    assert shares(unknown, other, unreadable) == ((0, 0), (0, 0))
    assert shares(unknown, other, unreadable, judge_trial(CALLED, "schedule")) == ((1, 1), (0, 1))


def test_several_assertions_on_a_trial__must_all_pass():
    both = make_trace(calls=["schedule", "schedule"])
    search = {"type": "expected_tool", "expected_tool": "search"}
    trial = make_trial(assertions=[assess(CALLED, both), assess(search, both)])
    assert shares(trial) == ((0, 1), (0, 1))


def test_means__are_per_trial_and_unknown_if_one_value_is():
    first = make_trial(cost_usd=0.25, latency_seconds=1.0, total_tokens=10)
    second = make_trial(cost_usd=0.75, latency_seconds=None, total_tokens=21)
    first.input_tokens, second.input_tokens = 8, 9
    figures = one(first, second)
    assert (figures.cost_usd, figures.latency_seconds) == (0.5, None)
    assert (figures.input_tokens, figures.output_tokens, figures.total_tokens) == (8.5, None, 15.5)


def test_variant_without_any_trial__has_unknown_values():
    figures = one(verdict="MISSING")
    assert (figures.scenarios, figures.passed, figures.trials, figures.cost_usd) == (1, 0, 0, None)
    assert (figures.correct_tool, figures.correct_count) == ((0, 0), (0, 0))
