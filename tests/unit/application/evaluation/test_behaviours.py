"""What is not compared with the baseline is named."""

from __future__ import annotations

import pytest
from builders import make_trace
from msgspec.structs import replace

from evalgate.application.evaluation.behaviours import (
    MOST_TRIALS,
    BehaviourRecorder,
    describe_left_out,
    describe_unrecorded,
)
from evalgate.gate.trajectory.behaviour import behaviour_from_trace
from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.models.comparison.comparison import Change, Comparison, ScenarioKey


def record(*counts: int) -> BehaviourRecorder:
    """A recorder of scenarios with so many trials each."""
    recorder, behaviour = BehaviourRecorder(), behaviour_from_trace(make_trace())
    for number, count in enumerate(counts):
        for _ in range(count):
            recorder.add(ScenarioKey("s", str(number), None), behaviour)
    return recorder


def test_a_scenario_that_begins_within_the_limit_is_kept_whole():
    recorder = record(MOST_TRIALS - 1, 3)
    assert len(recorder.find(ScenarioKey("s", "1", None))) == 3
    assert describe_left_out(recorder, is_asked=True) == []


def test_scenarios_beyond_the_limit_are_counted_in_a_warning():
    [problem] = describe_left_out(record(MOST_TRIALS, 2, 1), is_asked=False)
    assert problem.message == (
        "what the agent did in 2 scenarios was not compared with the baseline: at most 5,000 trials of a run are"
    )


@pytest.mark.parametrize(("kind", "found"), [("broken", True), ("regressed", True), ("unchanged", False)])
def test_sub_agents_of_a_scenario_that_regressed_and_are_not_recorded_any_more_are_a_warning(kind, found):
    lost = BehaviourDifference("model_calls", "", "9", "7", 3, 3)
    changes = {
        ScenarioKey("s", "lost", None): Change(kind, "", differences=[lost]),
        ScenarioKey("s", "other", None): Change("broken", "", differences=[replace(lost, kind="calls")]),
    }
    warnings = [each.message for each in describe_unrecorded(Comparison(changes, []))]
    words = (
        "no model call of a sub-agent is recorded any more in 1 scenario that regressed: does it ask its model past "
    )
    assert warnings == ([f"{words}the recorder?"] if found else [])
