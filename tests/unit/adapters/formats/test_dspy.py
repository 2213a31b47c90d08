from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.dspy import DSPY
from evalgate.adapters.formats.dspy import reader as dspy
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "dspy"
REACT = orjson.loads((FOLDER / "react.json").read_bytes())
NATIVE = [orjson.loads(line) for line in (FOLDER / "native.jsonl").read_bytes().splitlines()]
DELETE = '{"tool_calls": [{"name": "delete_user", "args": {"id": 7}}]}'


def entry(output, **fields):
    return {**copy.deepcopy(NATIVE[0]), "outputs": [output], **fields}


def read(*entries):
    (record,) = dspy.split(list(entries))
    return read_record(DSPY.reader, record, TraceLocation("x.jsonl"), "x.jsonl")


def names(trace):
    return [(call["name"], call["arguments"]) for call in trace.tool_calls]


def find(scenario):
    return next(trace for trace in read_traces(FOLDER) if trace.scenario_id == scenario)


def test_the_calls_of_react_are_read_from_the_text():
    trace = find("remove-user")
    assert [(c["name"], c["arguments"], c["status"], c["result_text"]) for c in trace.tool_calls] == [
        ("find_user", {"name": "Ada"}, "ok", '{"id": 7}'),
        ("delete_user", {"id": 7}, "error", "Execution error in delete_user: locked"),
        ("delete_user", {"id": 7, "force": True}, "ok", "deleted"),
    ]
    assert trace.response["content"] == "Ada is removed."
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.trial) == (0.005, 6500.0, 0)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (1390, 130)
    assert (trace.model, trace.provider) == ("gpt-4o-mini-2024-07-18", "openai")
    assert trace.gaps == {}


def test_calls_of_the_model_are_read_with_their_results():
    trace = find("native")
    assert [(c["name"], c["arguments"], c["result_text"]) for c in trace.tool_calls] == [
        ("delete_user", {"id": 8}, "deleted")
    ]
    assert [message["role"] for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("value", [REACT, [REACT], NATIVE, NATIVE[0]])
def test_histories_are_detected(value):
    assert detect.detect_format([value]).name == "dspy"


@pytest.mark.parametrize(
    ("output", "arguments"),
    [
        (f"[[ ## tool_calls ## ]]\n{DELETE}\n\n[[ ## completed ## ]]", {"id": 7}),
        (f"[[ ## calls ## ]]\n{DELETE}", {"id": 7}),
        (f'{{"tool_calls": {DELETE}}}', {"id": 7}),
        (DELETE, {"id": 7}),
        ('```json\n{"next_tool_name": "delete_user", "next_tool_args": {"id": 7}}\n```', {"id": 7}),
        ('<next_tool_name>delete_user</next_tool_name><next_tool_args>{"id": 7}</next_tool_args>', {"id": 7}),
        ("[[ ## next_tool_name ## ]]\ndelete_user", None),
        ('[[ ## action_1 ## ]]\n{"tool_name": "delete_user", "tool_input_query": "7"}', {"query": "7"}),
        ({"text": None, "tool_calls": [{"name": "delete_user", "args": {"id": 7}}]}, {"id": 7}),
        ({"text": "x", "tool_calls": [{"function": {"name": "delete_user", "arguments": '{"id": 7}'}}]}, {"id": 7}),
    ],
)
def test_calls_of_every_adapter_are_read(output, arguments):
    assert names(read(entry(output))) == [("delete_user", arguments)]
    assert names(read(entry("x", outputs=["x", output] if isinstance(output, dict) else [output]))) != []


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (
            {"text": "x", "tool_calls": ["ToolCall(name='delete_user')"]},
            r"outputs\[0\]\.tool_calls\[0\] is not an object",
        ),
        (f"[[ ## tool_calls ## ]]\n{DELETE[:-2]}", "tool_calls is not a list of calls"),
        ('{"action": {"tool_name": 5, "tool_input_query": "x"}}', "action.tool_name is not text"),
        (5, "is not an object"),
    ],
)
def test_calls_that_cannot_be_read_are_an_error(output, problem):
    with pytest.raises(TraceError, match=problem):
        dspy.build({"history": [entry(output)]})


def test_generated_code_may_call_tools():
    trace = read(entry("[[ ## generated_code ## ]]\ndelete_user(7)"))
    assert "generated code" in trace.gaps["calls"]


def test_the_end_of_react_is_not_a_call():
    assert names(read(entry('{"next_tool_name": "finish", "next_tool_args": {}}'))) == []
    assert names(read(entry('{"action_1": {"tool_name": "Finish", "tool_input_query": ""}}'))) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"other": [["delete_user"]]},
        {"outputs": [{"text": "x", "steps": [["delete_user"]]}]},
        {"messages": [{"role": "user", "content": [{"type": "odd"}]}]},
    ],
)
def test_unknown_fields_and_parts_make_the_calls_incomplete(fields):
    assert "calls" in read(entry("x", **fields)).gaps


def test_a_prompt_may_be_text_or_missing():
    trace = read(entry("x", messages=None, prompt="Hi"))
    assert [message["content"] for message in trace.messages] == ["Hi", "x"]
    assert trace.gaps == {}
    assert read(entry("x", messages=None)).gaps.keys() == {"messages"}


def test_an_answer_without_tokens_leaves_those_of_the_run_unknown():
    assert read(entry("x", usage={}), entry("y")).usage["total_tokens"] is None


def test_a_file_is_split_by_history_and_scenario():
    other = entry("x", scenario_id="other")
    assert len(dspy.split([NATIVE, other, REACT])) == 3
    assert dspy.identify({"history": [other]}) == ("other", None)
    assert dspy.identify(REACT) == ("remove-user", 0)
    with pytest.raises(TraceError, match=r"history\[1\] is not an entry"):
        dspy.build({"history": [other, {"x": 1}]})
