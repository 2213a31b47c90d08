from __future__ import annotations

from run_builders import make_assertion, make_scenario, make_trial, store_trials

from evalgate.models.run.run_statistics import CostlyAssertion
from evalgate.scoring.run_statistics import MOST_LISTED, find_costliest_assertions


def of_trials(*assertions_of_trials):
    return make_scenario(trials=[make_trial(assertions=each) for each in assertions_of_trials])


def test_checks_are_ranked_by_lost_weight():
    light = make_assertion("failed", name="light")
    heavy = make_assertion("failed", 0.5, name="heavy", weight=5.0, required=True)
    found = find_costliest_assertions(
        "support", [of_trials([light, heavy], [light, make_assertion()]), of_trials([heavy])]
    )
    assert found == [
        CostlyAssertion("support", "heavy", "jmespath", True, 2, 2, 5.0),
        CostlyAssertion("support", "light", "jmespath", False, 2, 1, 2.0),
    ]


def test_check_that_was_not_evaluable_loses_all_of_its_weight():
    broken = make_assertion("error", name="a", weight=2.0)
    lacking = make_assertion("not_evaluable", name="b", weight=3.0)
    left_out = make_assertion("not_evaluable", name="c", weight=9.0, counts=False)
    found = find_costliest_assertions("support", [of_trials([broken, lacking, left_out])])
    assert [(check.name, check.weight_lost) for check in found] == [("b", 3.0), ("a", 2.0), ("c", 0.0)]


def test_checks_that_passed_or_were_skipped_lose_nothing():
    assert find_costliest_assertions("support", [of_trials([make_assertion(), make_assertion("skipped")])]) == []


def test_stored_trials_lose_the_same_weight():
    light, heavy = (
        make_assertion("failed", 0.9, name="light"),
        make_assertion("failed", name="heavy", weight=3.0),
    )
    plain = [of_trials([light], [light, heavy], [light], [make_assertion()]), of_trials([heavy])]
    small = [make_scenario(trials=each.trials) for each in plain]
    for scenario in small:
        scenario.trials = store_trials(scenario.trials)
    assert find_costliest_assertions("support", small) == find_costliest_assertions("support", plain)


def test_only_the_checks_with_the_most_lost_weight_are_listed():
    many = [make_assertion("failed", name=f"c{place:02}") for place in range(MOST_LISTED + 5)]
    found = find_costliest_assertions("support", [of_trials(many[::-1])])
    assert [check.name for check in found] == [f"c{place:02}" for place in range(MOST_LISTED)]
