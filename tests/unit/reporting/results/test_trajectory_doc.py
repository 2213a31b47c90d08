from __future__ import annotations

import copy

import pytest
from builders import make_call, make_trace
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from results_builder import a_change, a_scenario, a_suite, results

from evalgate.errors import SettingError
from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace
from evalgate.gate.trajectory.trial_pairs import TrialPair, compare_pair
from evalgate.models.comparison.trajectory import TrajectoryDiff
from evalgate.models.results.baseline_run import BaselineTrace, BaselineTrial
from evalgate.models.run.run import TraceRef, TrialResult
from evalgate.reporting.markdown.scenario_rows import format_trajectory_diff
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import dump_results
from evalgate.reporting.terminal.explanation import render_explanation
from evalgate.reporting.text.scenario_sections import SuiteScenario

BEFORE = make_trace([("look", {"id": 1}), make_call("f", index=1), "mail"], "It costs $1.", turns=[("a", "b")])
NOW = make_trace(
    [("look", {"id": 2}), make_call("f", index=1, status="error"), "log"],
    "It costs $2.",
    turns=[("a", "c")],
    status="error",
    error={"type": "E", "message": "broke off"},
)


def a_difference(before=BEFORE, now=NOW):
    earlier = BaselineTrial(0, "passed", 1.0, 0.5, None, [], BaselineTrace("a.json", None, None), 9)
    trial = TrialResult(3, TraceRef(None, "", "", None), "failed", 0.0, [])
    found = compare_pair(TrialPair(earlier, trial), trajectory_from_trace(before), trajectory_from_trace(now))
    return to_builtins(clean_record(found, TrajectoryDiff))


def a_document(found):
    change = {**a_change("broken"), "behaviour": found}
    return results([a_suite("support", [a_scenario("refund", "FAIL", change)])])


def load_difference(found):
    change = load_results(dump_results(a_document(found)))["suites"][0]["scenarios"][0]["change"]
    return to_builtins(change["behaviour"])


def test_a_difference_is_read_back_as_it_was_written():
    found = a_difference()
    assert {step["kind"] for step in found["steps"]} == {"same", "changed", "removed", "added"}
    assert load_difference(found) == found


def test_unknown_statistics_are_null():
    assert a_difference()["figures"][2:] == [
        {"name": "latency_seconds", "before": None, "now": None},
        {"name": "total_tokens", "before": 9, "now": None},
    ]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["trial"], "x", "behaviour.trial is not a whole number"),
        (["steps"], None, "behaviour.steps is not a list"),
        (["steps", 0], 1, "behaviour.steps[0] is not an object"),
        (["steps", 0, "kind"], None, "steps[0].kind is not text"),
        (["steps", 0, "before"], [], "steps[0].before is not an object or null"),
        (["steps", 0, "before", "call"], None, "steps[0].before.call is not a whole number"),
        (["steps", 1, "outcome"], "x", "steps[1].outcome is not an object"),
        (["steps", 1, "outcome", "now"], 3, "steps[1].outcome.now is not text or null"),
        (["steps", 0, "changes"], {}, "steps[0].changes is not a list"),
        (["steps", 0, "changes", 0, "path"], 1, "changes[0].path is not text"),
        (["first"], "x", "behaviour.first is not an object or null"),
        (["first", "what"], None, "first.what is not text"),
        (["said", 0, "turn"], "1", "said[0].turn is not a whole number"),
        (["response", 0, "text"], None, "response[0].text is not text"),
        (["figures", 0, "before"], -1, "figures[0].before has a value that is not allowed"),
        (["figures", 0, "name"], None, "figures[0].name is not text"),
        (["status"], 1, "behaviour.status is not an object"),
        (["error", "now"], [], "error.now is not text or null"),
    ],
)
def test_a_difference_of_another_shape_is_refused(path, value, words):
    found = copy.deepcopy(a_difference())
    place = found
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(SettingError) as caught:
        load_difference(found)
    assert words in str(caught.value.problems[0].message)


words = st.sampled_from(["same", "calls", "user", "kept", "gone", "", "\u202e", "x" * 900])
counts = st.integers(-3, 10**20)


def change_values(value, draw):
    """The same shape with other content."""
    if isinstance(value, dict):
        return {key: change_values(item, draw) for key, item in value.items()}
    if isinstance(value, list):
        return [change_values(item, draw) for item in value]
    if isinstance(value, str):
        return draw(words)
    return draw(counts) if type(value) is int else value


@given(st.data())
def test_an_untrusted_difference_of_the_right_shape_can_be_rendered(data):
    found = change_values(a_difference(), data.draw)
    found["figures"] = a_difference()["figures"]
    change = a_change("broken", behaviour=found)
    scenario = a_scenario("refund", "FAIL", change)
    suite = a_suite("support", [scenario])
    assert format_trajectory_diff(change)
    assert render_explanation(results([suite]), SuiteScenario(suite, scenario))


def test_very_many_differences_have_a_bounded_size():
    calls = [(f"tool{n}", {f"key{k}": [n] * 40 + ["x" * 900] for k in range(30)}) for n in range(400)]
    other = [(name, dict.fromkeys(arguments, "y" * 900)) for name, arguments in calls]
    turns = [("u" * 2_000 + str(n), "a" * 2_000) for n in range(60)]
    found = a_difference(
        make_trace(calls, "w " * 30_000, turns=turns),
        make_trace(other, "v " * 30_000, turns=[(b, a) for a, b in turns]),
    )
    assert len(dump_results(a_document(found))) < 3_000_000
