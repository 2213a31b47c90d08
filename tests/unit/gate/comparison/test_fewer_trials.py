"""Scenarios with fewer trials than in the baseline."""

import pytest

from evalgate.gate.comparison.missing import find_missing_trials
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
