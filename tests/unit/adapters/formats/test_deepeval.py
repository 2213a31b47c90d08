from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.deepeval import DEEPEVAL
from evalgate.adapters.formats.deepeval import reader as deepeval
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "deepeval"
RUN = orjson.loads((FOLDER / "test_run.json").read_bytes())
CASE, TRACED, GREETING = RUN["testCases"]
TALK = RUN["conversationalTestCases"][0]


def read(case, **fields):
    (record,) = deepeval.split([{**copy.deepcopy(case), **fields}])
    return read_record(DEEPEVAL.reader, record, TraceLocation("x.json"), "x.json")


def find(scenario):
    return next(trace for trace in read_traces(FOLDER) if trace.scenario_id == scenario)


def test_a_test_case_is_read_with_its_tools_and_figures():
    trace = find("remove-ada")
    assert [(c["name"], c["arguments"], c["result_text"], c["status"]) for c in trace.tool_calls] == [
        ("find_user", {"name": "Ada"}, '{"id":7}', "ok"),
        ("delete_user", {"id": 7}, "deleted", "ok"),
    ]
    assert [message["content"] for message in trace.messages] == ["Remove Ada.", "Ada is removed."]
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (310, 25)
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.trial) == (0.004, 1250.0, 1)
    assert [(score["name"], score["score_value"], score["score_label"]) for score in trace.evaluations] == [
        ("Tool Correctness", 0.0, "failed"),
        ("Answer Relevancy", 0.9, "passed"),
    ]
    assert (trace.tags, trace.gaps) == (["users"], {})


def test_a_trace_has_the_tools_and_model_calls():
    trace = find("traced")
    call = trace.tool_calls[0]
    assert (call["name"], call["arguments"], call["status"], call["duration_ms"]) == (
        "delete_user",
        {"id": 8},
        "error",
        250.0,
    )
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.model) == (100, 9, "gpt-4o-mini")
    assert (trace.latency, trace.gaps) == ({"total_ms": 2500.0, "source": "span"}, {})


def test_a_conversation_is_read_with_its_turns():
    trace = find("talk")
    assert [(c["name"], c["turn"], c["result_text"]) for c in trace.tool_calls] == [("delete_user", 1, "deleted")]
    assert [message["role"] for message in trace.messages] == [
        *("user", "assistant", "tool", "assistant", "user", "assistant"),
    ]
    assert trace.gaps == {}


def test_without_called_tools_nothing_is_known_about_calls():
    assert "toolsCalled" in find("greeting").gaps["calls"]
    assert read(GREETING, toolsCalled=[]).gaps == {}
    assert "calls" in read(TALK, turns=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]).gaps


@pytest.mark.parametrize(
    "value",
    [
        RUN,
        {"testRunData": RUN},
        {"cases": [CASE], "conversationalTestCases": [TALK]},
        {"test_results": [{"name": "a", "input": "x", "actual_output": "y", "metrics_data": [], "success": True}]},
        {"input": "x", "actual_output": "y", "tools_called": [{"name": "delete_user", "input_parameters": {}}]},
        [CASE],
    ],
)
def test_test_runs_and_cases_are_detected(value):
    assert detect.detect_format([value]).name == "deepeval"
    assert deepeval.split(value)


def test_names_of_python_fields_are_read_too():
    tools = [{"name": "delete_user", "input_parameters": {"id": 7}}]
    trace = read({"input": "x", "actual_output": "y", "tools_called": tools, "completion_time": 2})
    assert [(c["name"], c["arguments"]) for c in trace.tool_calls] == [("delete_user", {"id": 7})]
    assert trace.latency["total_ms"] == 2000.0


def test_expected_tools_are_not_calls():
    expected = [{"name": "delete_user", "inputParameters": {"id": 1}}]
    assert read(GREETING, expectedTools=expected, toolsCalled=[]).tool_calls == []


def test_tools_and_spans_of_one_call_count_once():
    trace = read(TRACED, toolsCalled=[{"name": "delete_user", "inputParameters": {"id": 8}}])
    assert [(c["name"], c["status"]) for c in trace.tool_calls] == [("delete_user", "error")]
    inner = {**TRACED["trace"], "toolSpans": [], "toolsCalled": [{"name": "delete_user"}]}
    assert [call["name"] for call in read(TRACED, trace=inner).tool_calls] == ["delete_user"]
    assert "calls" in read(TRACED, trace={**TRACED["trace"], "toolSpans": None}).gaps


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": [{"name": "delete_all", "arguments": {}}]},
        {"steps": [["delete_all"]]},
        {"toolsCalled": [{"name": "a", "calls": [{"name": "delete_all", "input": {}}]}]},
        {"toolsCalled": [{"inputParameters": {}}]},
        {"trace": {"uuid": "x", "llmSpans": [{"output": {"tool_calls": [{"name": "delete_all", "args": {}}]}}]}},
    ],
)
def test_calls_of_unknown_forms_are_not_lost(fields):
    found = read(CASE, **fields)
    if isinstance(found, DamagedTrace):
        assert "delete_all" in found.reason or "name is missing" in found.reason
        assert found.scenario_id == "remove-ada"
    else:
        assert "calls" in found.gaps


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"input": "x"}, "is not a test case"),
        ({**CASE, "toolsCalled": {}}, "toolsCalled is not a list"),
        ({**TALK, "turns": [{"role": "tool", "content": "x"}]}, r"turns\[0\]\.role is neither"),
        ({**CASE, "metricsData": [{"score": 1}]}, r"metricsData\[0\]\.name is missing"),
    ],
)
def test_what_cannot_be_read_is_an_error(case, problem):
    with pytest.raises(TraceError, match=problem):
        deepeval.build(case)


def test_images_are_left_out_of_texts():
    trace = read(CASE, input=["Who is", {"url": "https://example.org/a.png"}, "this?"])
    assert trace.messages[0]["content"] == "Who is\nthis?"
    assert deepeval.identify(5) == (None, None)
