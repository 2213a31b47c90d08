"""From recordings on both sides to what the results say of the difference."""

from __future__ import annotations

import orjson
import pytest
from builders import make_trace
from fakes.core import BaselineShelf, make_tools

from evalgate.application.evaluation.trajectories import MAX_LISTED, MOST_KEPT, load_trajectories
from evalgate.application.judge.judge import judge
from evalgate.application.messages.request import JudgeRequest
from evalgate.errors import SettingError
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.trace.trace_document import encode_trace
from evalgate.ports import Baseline

SUITE = """
version: 1
suite: s
traces: [t]
threshold: 0.5
scenarios: [{id: '*', assertions: [{contains: done}, {type: tool_called, tool: pay}]}]
"""
STRICT = SUITE.replace("0.5", "1.0")


def a_trace(scenario="a", amount=1, response="done", trial=None, calls=None):
    made = [("pay", {"amount": amount})] if calls is None else calls
    return make_trace(made, response, scenario_id=scenario, trial=trial, path=f"{scenario}/{trial}.json")


def compared(before, now, suite=STRICT, shelf=None):
    shelf = BaselineShelf() if shelf is None else shelf
    first = judge(JudgeRequest(make_baseline_zip=False), make_tools(suite, traces=before)).results
    shelf.put("b.zip", Baseline(first, None))
    shelf.stored.setdefault("b.zip", before)
    request = JudgeRequest(baseline=BaselineInfo("given", path="b.zip"), make_baseline_zip=False)
    return judge(request, make_tools(suite, traces=now, baselines=shelf)).results


def behaviours(results):
    changes = {each["id"]: each["change"] for each in results["suites"][0]["scenarios"]}
    return {id_: change["behaviour"] for id_, change in changes.items() if "behaviour" in change}


def test_a_scenario_that_broke_tells_how_its_recording_differs():
    told = behaviours(compared([a_trace()], [a_trace(amount=2, response="no")]))["a"]
    assert told["first"] == {"turn": 1, "what": "calls", "before": 1, "now": 1}
    assert told["steps"][0]["changes"] == [{"path": "amount", "before": "1", "now": "2"}]
    assert [part["kind"] for part in told["response"]] == ["gone", "come"]
    assert told["figures"][0] == {"name": "score", "before": 1.0, "now": 0.5}


def test_a_recording_too_large_to_be_kept_is_told_like_another():
    calls = [("pay", {"amount": 2, "note": "x" * 200_000})]
    told = behaviours(compared([a_trace()], [a_trace(calls=calls, response="no")]))["a"]
    assert [change["path"] for change in told["steps"][0]["changes"]] == ["amount", "note"]


def test_secrets_of_a_recording_are_told_by_nobody():
    secret = f"AKIA{'Q3EGRT7UVW2XYZ45'}"
    results = compared([a_trace()], [a_trace(amount=secret, response=f"no, {secret}")])
    assert behaviours(results)["a"]["first"]["what"] == "calls"
    assert secret not in repr(results)


def test_a_scenario_whose_score_fell_tells_it_too():
    results = compared([a_trace()], [a_trace(response="no")], suite=SUITE)
    assert results["suites"][0]["scenarios"][0]["change"]["kind"] == "regressed"
    assert behaviours(results)["a"]["first"]["what"] == "answer"


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (a_trace(), a_trace()),
        (a_trace(), a_trace(amount=2)),
        (a_trace(response="no"), a_trace(response="no", amount=2)),
        (a_trace(response="no"), a_trace()),
    ],
)
def test_scenarios_that_did_not_get_worse_tell_nothing(before, now):
    assert behaviours(compared([before], [now])) == {}


def test_the_worst_trial_stands_beside_a_passed_one():
    now = [a_trace(trial=0), a_trace(trial=1, response="no"), a_trace(trial=2, response="no", calls=[])]
    three = [a_trace(trial=number) for number in range(3)]
    told = behaviours(compared(three, now))["a"]
    assert (told["trial_before"], told["trial"]) == (2, 2)


def test_of_trials_equally_bad_the_one_told_is_the_one_compared():
    three = [a_trace(trial=number) for number in range(3)]
    now = [a_trace(trial=number, response="no", amount=number) for number in (2, 0, 1)]
    told = behaviours(compared(three, now))["a"]
    assert told["steps"][0]["arguments"] == f'{{"amount":{told["trial"]}}}'


def test_a_baseline_without_the_recording_leaves_the_names():
    shelf = BaselineShelf()
    shelf.stored["b.zip"] = []
    results = compared([a_trace()], [a_trace(response="no")], shelf=shelf)
    change = results["suites"][0]["scenarios"][0]["change"]
    assert "behaviour" not in change
    assert change["calls"]["now"] == ["pay"]
    assert results["warnings"] == []


class _Damaged(BaselineShelf):
    def read_traces(self, path):
        raise SettingError("the baseline b.zip is refused: traces.jsonl in it is damaged")
        yield b""


def test_traces_of_a_baseline_that_are_damaged_are_a_warning():
    results = compared([a_trace()], [a_trace(response="no")], shelf=_Damaged())
    assert results["suites"][0]["scenarios"][0]["change"]["kind"] == "broken"
    (warning,) = results["warnings"]
    assert warning["message"].startswith("the baseline b.zip is refused: traces.jsonl in it is damaged: what changed")


def test_damaged_traces_of_a_baseline_that_nobody_needs_are_not_read():
    assert compared([a_trace()], [a_trace()], shelf=_Damaged())["warnings"] == []


def test_broken_scenarios_are_told_before_others_and_bounded():
    names = [f"s{number:03}" for number in range(MOST_KEPT + 20)]
    before = [a_trace(name) for name in names]
    now = [a_trace(name, response="no") for name in names]
    told = behaviours(compared(before, now))
    assert list(told) == names[:MAX_LISTED]


def test_lines_that_are_no_traces_are_passed_over():
    good = orjson.dumps(encode_trace(a_trace()), option=orjson.OPT_APPEND_NEWLINE)
    deep = b'{"tool_calls":' + b"[" * 900 + b"]" * 900 + b',"source":{"path":"a/None.json"}}\n'
    other_order = b'{"source":{"path":"x","line":3},"messages":[]}\n'
    lines = [b"\n", b"[]\n", b'"source":{\n', b'{"source":{"path":[]}}\n', b"\xff\n", deep, other_order, good]
    found = load_trajectories(lines, {("a/None.json", None, None), ("x", 3, None)})
    assert [call.name for call in found["a/None.json", None, None].calls] == ["pay"]
    assert found["x", 3, None].calls == []


def test_no_more_is_read_than_is_wanted():
    def lines():
        yield orjson.dumps(encode_trace(a_trace()))
        raise AssertionError

    assert len(load_trajectories(lines(), {("a/None.json", None, None)})) == 1
