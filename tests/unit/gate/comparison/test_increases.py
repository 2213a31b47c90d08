from __future__ import annotations

import pytest
from run_builders import make_scenario_outcome

from evalgate.gate.comparison.compare import compare, find_increases
from evalgate.suite.policy import IncreaseLimit, RegressionPolicy

FIFTH = RegressionPolicy(cost=IncreaseLimit(max_increase=0.2))


def cost(before, now, policy=FIFTH):
    return find_increases(make_scenario_outcome(costs=before), make_scenario_outcome(costs=now), policy)


def test_increase_over_the_limit_is_reported_with_the_limit():
    assert cost([1.0, 3.0], [2.7]) == ["cost +35% (limit +20%)"]


def test_increase_up_to_the_limit_is_accepted():
    assert cost([0.1], [0.12]) == []
    assert cost([1.0], [0.5]) == []
    assert 1.1 / 1.0 - 1 > 0.1  # what plain floats would say
    assert cost([1.0], [1.1], RegressionPolicy(cost=IncreaseLimit(max_increase=0.1))) == []


def test_increase_barely_over_the_limit_shows_enough_digits():
    assert cost([1.0], [1.200004]) == ["cost +20.0004% (limit +20%)"]


@pytest.mark.parametrize(("before", "now"), [([None], [5.0]), ([1.0], [None]), ([], [9.0]), ([1.0], [])])
def test_unknown_value_is_not_compared(before, now):
    assert cost(before, now) == []


def test_trials_without_a_value_are_left_out_on_both_sides():
    assert cost([1.0], [9.0, None]) == ["cost +800% (limit +20%)"]
    assert cost([1.0, None], [1.0, 1.0, None]) == []


def test_increase_from_nothing_has_no_percentage():
    assert cost([0.0], [0.5]) == ["cost 0 -> 0.5 (limit +20%)"]
    assert cost([0.0], [0.0]) == []


def test_nothing_is_compared_without_a_limit():
    assert cost([1.0], [9.0], RegressionPolicy()) == []


EVIDENT = RegressionPolicy(cost=IncreaseLimit(max_increase=0.2), require_evidence=True)


def test_if_significance_is_required_an_increase_of_one_trial_is_not_reported():
    assert cost([1.0], [9.0], EVIDENT) == []
    assert cost([1.0, 1.1, 1.2, 1.3], [9.0], EVIDENT) == []


def test_if_significance_is_required_an_increase_by_chance_is_not_reported():
    assert cost([1.0, 9.0, 1.0, 1.0], [1.0, 9.0, 9.0, 1.0], EVIDENT) == []


def test_if_significance_is_required_an_increase_of_all_trials_is_reported():
    assert cost([1.0, 1.1, 1.2, 1.3], [2.0, 2.1, 2.2, 2.3], EVIDENT) == ["cost +87% (limit +20%)"]


def test_latency_and_tokens_have_separate_limits():
    policy = RegressionPolicy(latency=IncreaseLimit(max_increase=0), tokens=IncreaseLimit(max_increase=1))
    before = make_scenario_outcome(costs=[1.0], latencies=[1.0], tokens=[100])
    now = make_scenario_outcome(costs=[9.0], latencies=[1.5], tokens=[300])
    assert find_increases(before, now, policy) == ["latency +50% (limit +0%)", "tokens +200% (limit +100%)"]


@pytest.mark.parametrize(
    ("before", "now", "figures"),
    [
        (([1.0], [10]), ([1.5], [10]), [("cost", 1, 1.5), ("tokens", 10, 10)]),
        (([1.0, 3.0], [10, 10]), ([2.0, 2.1], [20, 30]), [("cost", 2, 2.05), ("tokens", 10, 25)]),
        (([None], [10]), ([2.0], [15]), [("tokens", 10, 15)]),
        (([1.0], [10]), ([1.4], [14]), []),
        (([0.0], [0]), ([2.0], [10]), []),
        (([1.0], [10]), ([None], [None]), []),
    ],
)
def test_the_figures_of_both_sides_are_kept_where_cost_or_tokens_grew_much(before, now, figures):
    sides = [make_scenario_outcome(costs=costs, tokens=tokens) for costs, tokens in (before, now)]
    key = sides[0].key
    change = compare({key: sides[1]}, {key: sides[0]}, {}).changes[key]
    assert [each[:3] for each in change.grown] == figures


@pytest.mark.parametrize(
    ("before", "now", "is_sure"),
    [
        ([1.0, 2.0], [3.0, 9.0], True),
        ([1.0, 2.0], [2.9, 9.0], False),
        ([1.0], [9.0], False),
        ([1.0, 1.0], [9.0], False),
    ],
)
def test_a_cost_is_sure_to_have_grown_where_every_trial_costs_more_than_any_before(before, now, is_sure):
    sides = [make_scenario_outcome(costs=costs, tokens=[1] * len(costs)) for costs in (before, now)]
    key = sides[0].key
    grown = compare({key: sides[1]}, {key: sides[0]}, {}).changes[key].grown
    assert [(each.figure, each.every_trial) for each in grown] == [("cost", is_sure), ("tokens", False)]
