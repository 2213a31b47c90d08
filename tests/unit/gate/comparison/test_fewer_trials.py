"""Scenarios with fewer trials than in the baseline, or none that was measured."""

import pytest
from run_builders import make_scenario_outcome

from evalgate.gate.comparison.compare import compare
from evalgate.gate.weakening.weaker_evidence import find_missing_trials, find_unmeasured_scenarios
from evalgate.models.comparison.comparison import Comparison, ScenarioKey
from evalgate.scoring.wording import describe_weakening


def compare_trials(**trials):
    return Comparison({}, [], {}, {ScenarioKey("s", id_, None): counts for id_, counts in trials.items()})


@pytest.mark.parametrize("counts", [(2, 2), (1, 3), (2, 0), (0, 0)])
def test_as_many_or_more__or_none_at_all__are_not_fewer(counts):
    assert find_missing_trials(compare_trials(a=counts)) == []


def test_one_scenario_is_named_with_its_numbers():
    (only,) = find_missing_trials(compare_trials(a=(4, 3), b=(4, 4)))
    assert (only.suite, only.scenario) == ("s", "a")
    assert describe_weakening(only) == "fewer trials were recorded: trials: 4 -> 3"


def test_scenarios_that_lost_equally_many_are_reported_together():
    together, alone = find_missing_trials(compare_trials(a=(4, 3), b=(4, 3), c=(4, 1)))
    assert (together.scenario, together.scenarios) == (None, 2)
    assert alone.scenario == "c"


def compare_with_outages(before, **unmeasured):
    now = [
        make_scenario_outcome(
            "NOT_EVALUABLE" if count else "PASS", [] if count else [1.0], scenario_id=id_, unmeasured=count
        )
        for id_, count in unmeasured.items()
    ]
    return compare({each.key: each for each in now}, {each.key: each for each in before}, {})


def test_scenario_that_an_outage_left_unmeasured_is_weaker_evidence():
    before = [make_scenario_outcome(scenario_id="a"), make_scenario_outcome(scenario_id="b")]
    (only,) = find_unmeasured_scenarios(compare_with_outages(before, a=1, b=0))
    assert (only.kind, only.suite, only.scenario) == ("not_measured", "support", "a")
    assert describe_weakening(only) == "an outage left unmeasured what the baseline measured"
    (together,) = find_unmeasured_scenarios(compare_with_outages(before, a=1, b=2))
    assert (together.scenario, together.scenarios) == (None, 2)
    assert describe_weakening(together).endswith(" in 2 scenarios")


def test_scenario_that_the_baseline_did_not_measure_either_is_no_weakening():
    before = [
        make_scenario_outcome("NOT_EVALUABLE", [], scenario_id="a", unmeasured=1),
        make_scenario_outcome("MISSING", [], scenario_id="b"),
    ]
    assert find_unmeasured_scenarios(compare_with_outages(before, a=1, b=1, c=1)) == []


def test_trials_that_an_outage_left_unmeasured_were_recorded():
    before = make_scenario_outcome(scores=[1.0] * 3)
    now = make_scenario_outcome(scores=[1.0] * 2, unmeasured=1)
    assert find_missing_trials(compare({now.key: now}, {before.key: before}, {})) == []
