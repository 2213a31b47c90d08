"""From the traces of both runs to the trajectory diff in the results."""

from __future__ import annotations

import orjson
import pytest
from builders import make_trace
from fakes.core import MemoryBaselines, TraceList, make_tools
from msgspec import to_builtins
from request_builder import make_request

from evalgate.application.evaluation.trajectories import (
    MAX_LISTED,
    MOST_KEPT,
    MOST_NEW,
    StoredTraces,
    load_trajectories,
)
from evalgate.application.judge.judge import judge
from evalgate.errors import SettingError
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.trace.trace_document import encode_trace
from evalgate.ports import Baseline

SUITE = """
version: 1
suite: s
traces: [t]
threshold: 0.5
policy: {fail_on: [below_threshold]}
scenarios: [{id: '*', assertions: [{contains: done}, {type: tool_called, tool: pay}]}]
"""
STRICT = SUITE.replace("0.5", "1.0")


def a_trace(scenario="a", amount=1, response="done", trial=None, calls=None):
    made = [("pay", {"amount": amount})] if calls is None else calls
    path = f"{scenario}/{trial}.json"
    return make_trace(made, response, scenario_id=scenario, trial=trial, trace_id=path, path=path)


def compare_runs(before, now, suite=STRICT, baselines=None):
    baselines = MemoryBaselines() if baselines is None else baselines
    first = judge(make_request(make_baseline_zip=False), make_tools(suite, traces=before)).results
    baselines.put("b.zip", Baseline(first, None))
    baselines.stored.setdefault("b.zip", before)
    request = make_request(baseline=BaselineInfo("given", path="b.zip"), make_baseline_zip=False)
    return judge(request, make_tools(suite, traces=now, baselines=baselines)).results


def trajectory_diffs(results):
    changes = {each["id"]: each["change"] for each in results["suites"][0]["scenarios"]}
    return {id_: to_builtins(change["behaviour"]) for id_, change in changes.items() if "behaviour" in change}


def test_a_broken_scenario_has_a_trajectory_diff():
    diff = trajectory_diffs(compare_runs([a_trace()], [a_trace(amount=2, response="no")]))["a"]
    assert diff["first"] == {"turn": 1, "what": "calls", "before": 1, "now": 1}
    assert diff["steps"][0]["changes"] == [{"path": "amount", "before": "1", "now": "2"}]
    assert [part["kind"] for part in diff["response"]] == ["gone", "come"]
    assert diff["figures"][0] == {"name": "score", "before": 1.0, "now": 0.5}


def test_a_trace_too_large_to_keep_is_compared_too():
    calls = [("pay", {"amount": 2, "note": "x" * 200_000})]
    diff = trajectory_diffs(compare_runs([a_trace()], [a_trace(calls=calls, response="no")]))["a"]
    assert [change["path"] for change in diff["steps"][0]["changes"]] == ["amount", "note"]


def test_secrets_of_a_trace_are_redacted_in_the_diff():
    secret = f"AKIA{'Q3EGRT7UVW2XYZ45'}"
    results = compare_runs([a_trace()], [a_trace(amount=secret, response=f"no, {secret}")])
    assert trajectory_diffs(results)["a"]["first"]["what"] == "calls"
    assert secret not in repr(results)


def test_a_regressed_scenario_has_a_trajectory_diff():
    results = compare_runs([a_trace()], [a_trace(response="no")], suite=SUITE)
    assert results["suites"][0]["scenarios"][0]["change"]["kind"] == "regressed"
    assert trajectory_diffs(results)["a"]["first"]["what"] == "answer"


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (a_trace(), a_trace()),
        (a_trace(), a_trace(amount=2)),
        (a_trace(response="no"), a_trace(response="no", amount=2)),
        (a_trace(response="no"), a_trace()),
    ],
)
def test_scenarios_that_did_not_get_worse_have_no_diff(before, now):
    assert trajectory_diffs(compare_runs([before], [now])) == {}


def examples(results):
    changes = {each["id"]: each["change"] for each in results["suites"][0]["scenarios"] if each["change"]}
    return {id_: to_builtins(change["example"]) for id_, change in changes.items() if "example" in change}


def test_of_a_new_scenario_that_passes_the_first_trial_that_passes_is_kept():
    fails = a_trace("b", response="no", trial=0, calls=[])
    now = [a_trace(), fails, a_trace("b", 8, trial=1), a_trace("b", 9, trial=2)]
    assert examples(compare_runs([a_trace()], now, suite=SUITE)) == {
        "b": {"trial": 1, "request": "Hello", "calls": ['pay {"amount":8}'], "answer": "done"}
    }


@pytest.mark.parametrize("is_new", [True, False])
def test_no_trial_is_kept_of_a_scenario_that_fails_or_that_the_baseline_has(is_new):
    now = [a_trace(), a_trace("b", response="no")] if is_new else [a_trace()]
    assert examples(compare_runs([a_trace()], now)) == {}


def test_without_a_baseline_every_scenario_is_new_and_no_trial_is_kept():
    results = judge(make_request(make_baseline_zip=False), make_tools(SUITE, traces=[a_trace()])).results
    assert results["suites"][0]["scenarios"][0]["change"] is None


def test_of_many_new_scenarios_the_first_few_have_a_trial():
    before = [a_trace()]
    found = examples(compare_runs(before, [*before, *(a_trace(f"n{number:03}") for number in range(300))]))
    assert [*found] == [f"n{number:03}" for number in range(MOST_NEW)]
    assert len(orjson.dumps(found)) < 10_000


def test_a_kept_trial_is_short_and_has_no_secret():
    secret = f"AKIA{'Q3EGRT7UVW2XYZ45'}"
    calls = [("pay", {"key": secret, "note": "x" * 5_000})] * 400
    now = [a_trace(), a_trace("b", calls=calls, response=f"done {secret} {'y' * 90_000}")]
    (found,) = examples(compare_runs([a_trace()], now)).values()
    assert len(orjson.dumps(found)) < 4_000
    assert secret not in repr(found)
    assert len(found["calls"]) + found["calls_left"] == 400


def test_what_only_reads_is_kept_with_that():
    suite = SUITE.replace(", {type: tool_called, tool: pay}", "")
    (found,) = examples(compare_runs([a_trace()], [a_trace(), a_trace("b", calls=["get_order"])], suite)).values()
    assert (found["calls"], found["reads_only"]) == (["get_order {}"], True)


def test_the_worst_trial_is_compared_with_a_passed_one():
    now = [a_trace(trial=0), a_trace(trial=1, response="no"), a_trace(trial=2, response="no", calls=[])]
    three = [a_trace(trial=number) for number in range(3)]
    diff = trajectory_diffs(compare_runs(three, now))["a"]
    assert (diff["trial_before"], diff["trial"]) == (2, 2)


def test_of_equally_bad_trials_the_reported_one_is_the_compared_one():
    three = [a_trace(trial=number) for number in range(3)]
    now = [a_trace(trial=number, response="no", amount=number) for number in (2, 0, 1)]
    diff = trajectory_diffs(compare_runs(three, now))["a"]
    assert diff["steps"][0]["arguments"] == f'{{"amount":{diff["trial"]}}}'


def test_without_the_trace_in_the_baseline_only_call_names_are_compared():
    baselines = MemoryBaselines()
    baselines.stored["b.zip"] = []
    results = compare_runs([a_trace()], [a_trace(response="no")], baselines=baselines)
    change = results["suites"][0]["scenarios"][0]["change"]
    assert "behaviour" not in change
    assert change["calls"].current == ["pay"]
    assert results["warnings"] == []


class _Damaged(MemoryBaselines):
    def read_traces(self, path):
        raise SettingError("the baseline b.zip is refused: traces.jsonl in it is damaged")
        yield b""


def test_damaged_traces_of_a_baseline_are_a_warning():
    results = compare_runs([a_trace()], [a_trace(response="no")], baselines=_Damaged())
    assert results["suites"][0]["scenarios"][0]["change"]["kind"] == "broken"
    (warning,) = results["warnings"]
    assert warning["message"].startswith(
        "the baseline b.zip is refused: traces.jsonl in it is damaged: only the names of the agent's tool calls are"
    )


def test_damaged_traces_of_a_baseline_are_not_read_if_not_needed():
    assert compare_runs([a_trace()], [a_trace()], baselines=_Damaged())["warnings"] == []


def test_diffs_of_broken_scenarios_come_first_and_are_bounded():
    names = [f"s{number:03}" for number in range(MOST_KEPT + 20)]
    before = [a_trace(name) for name in names]
    now = [a_trace(name, response="no") for name in names]
    diff = trajectory_diffs(compare_runs(before, now))
    assert list(diff) == names[:MAX_LISTED]


def test_lines_that_are_not_traces_are_skipped():
    good = orjson.dumps(encode_trace(a_trace()), option=orjson.OPT_APPEND_NEWLINE)
    deep = b'{"tool_calls":' + b"[" * 900 + b"]" * 900 + b',"source":{"path":"a/None.json"}}\n'
    other_order = b'{"source":{"path":"x","line":3},"schema":"evalgate.trace/1","messages":[]}\n'
    lines = [b"\n", b"[]\n", b'"source":{\n', b'{"source":{"path":[]}}\n', b"\xff\n", deep, other_order, good]
    found = load_trajectories(
        StoredTraces(lines, TraceList().restore_trace), {("a/None.json", None, None), ("x", 3, None)}
    )
    assert [call.name for call in found["a/None.json", None, None].calls] == ["pay"]
    assert found["x", 3, None].calls == []


def test_reading_stops_after_the_last_wanted_trace():
    def lines():
        yield orjson.dumps(encode_trace(a_trace()))
        raise AssertionError

    assert len(load_trajectories(StoredTraces(lines(), TraceList().restore_trace), {("a/None.json", None, None)})) == 1
