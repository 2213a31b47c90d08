from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.promptfoo import PROMPTFOO
from evalgate.adapters.formats.promptfoo import reader as promptfoo
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "promptfoo"
OUTPUT = orjson.loads((FOLDER / "output.json").read_bytes())
RESULTS = OUTPUT["results"]["results"]
AGENT = {"id": "file://agent.py"}
ARGUMENTS = {"id": 7}
FUNCTION = {"name": "delete_user", "arguments": '{"id": 7}'}
COMPLETION = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [{"function": FUNCTION}]}}]}


def read(response, document=None, **fields):
    result = {**copy.deepcopy(RESULTS[2]), "response": response, **fields}
    (record,) = promptfoo.split({**OUTPUT, "results": {"results": [result]}, **(document or {})})
    return read_record(PROMPTFOO.reader, record, TraceLocation("x.json"), "x.json")


def calls(trace):
    return [(call["name"], call["arguments"]) for call in trace.tool_calls]


def find(scenario):
    return next(trace for trace in read_traces(FOLDER) if trace.scenario_id == scenario)


def test_results_are_traces_of_their_scenarios():
    assert {trace.scenario_id: calls(trace) for trace in read_traces(FOLDER)} == {
        "remove-ada": [("delete_user", {"id": 7})],
        "remove-bob": [("find_user", {"name": "Bob"}), ("delete_user", {"id": 8})],
        "remove-cleo": [("delete_user", {"id": 9})],
        "greet": [],
        "limited": [],
        "chat": [],
    }
    assert all(trace.gaps == {} for trace in read_traces(FOLDER))


def test_a_result_has_tokens_cost_time_and_scores():
    trace = find("remove-ada")
    assert [message["role"] for message in trace.messages] == ["system", "user", "assistant"]
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (120, 10)
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.finish_reason) == (0.002, 850.0, "tool_calls")
    assert {score["name"]: score["score_value"] for score in trace.evaluations} == {
        "pass": 1.0,
        "score": 1.0,
        "politeness": 0.75,
    }
    assert (trace.provider, trace.model) == ("openai", "gpt-4o-mini")
    assert trace.tags == ["provider:openai:chat:gpt-4o-mini", "prompt:chat"]


def test_calls_in_the_metadata_have_results():
    trace = find("remove-bob")
    assert [(c["id"], c["status"], c["result_text"]) for c in trace.tool_calls] == [
        ("t1", "ok", '{"id":8}'),
        ("t2", "error", "locked"),
    ]
    assert trace.response["content"] == "Bob is removed."
    assert (trace.provider, trace.model, trace.tags[0]) == (None, None, "provider:agent")


def test_a_cached_answer_has_no_latency_and_a_failed_assertion_is_no_error():
    trace = find("greet")
    assert (trace.trial, trace.status, trace.latency["total_ms"], trace.cost["usd"]) == (2, "ok", None, None)
    assert (trace.usage["total_tokens"], trace.usage["input_tokens"]) == (20, None)
    assert trace.evaluations[0]["explanation"] == 'Expected output to contain "hello"'
    assert find("limited").error == {"type": None, "message": "API error: 429"}


@pytest.mark.parametrize("value", [OUTPUT, OUTPUT["results"], RESULTS, RESULTS[0]])
def test_results_are_detected(value):
    assert detect.detect_format([value]).name == "promptfoo"
    assert promptfoo.split(value)[0]["testIdx"] == 0


@pytest.mark.parametrize(
    "output",
    [
        [{"function": FUNCTION}],
        [{"id": "c", "type": "function", "function": FUNCTION}],
        FUNCTION,
        {"content": "x", "tool_calls": [{"function": FUNCTION}]},
        {"function_call": FUNCTION},
        [{"functionCall": {"name": "delete_user", "args": ARGUMENTS}}],
        [{"toolUse": {"name": "delete_user", "input": ARGUMENTS, "toolUseId": "c"}}],
        [{"type": "tool_use", "name": "delete_user", "input": ARGUMENTS}],
        '{"type":"function_call","call_id":"c","name":"delete_user","arguments":"{\\"id\\": 7}"}',
        'I do it.\n\n{"type":"tool_use","id":"c","name":"delete_user","input":{"id":7}}',
        '[{"function":{"name":"delete_user","arguments":"{\\"id\\": 7}"}}]',
        'Called function delete_user with arguments: {"id": 7}',
        [{"text": "x"}, {"functionCall": {"name": "delete_user", "args": ARGUMENTS}}],
    ],
)
@pytest.mark.parametrize("provider", [AGENT, {"id": "openai:chat:gpt-4o"}])
def test_calls_in_the_output_are_read(output, provider):
    found = read({"output": output}, provider=provider)
    if isinstance(found, DamagedTrace):
        assert "delete_user" in found.reason
    else:
        assert calls(found) == [("delete_user", ARGUMENTS)]


@pytest.mark.parametrize("raw", [COMPLETION, orjson.dumps(COMPLETION).decode()])
def test_calls_in_the_raw_response_are_read(raw):
    assert calls(read({"output": "done", "raw": raw}, provider=AGENT)) == [("delete_user", ARGUMENTS)]
    assert len(calls(read({"output": [{"function": FUNCTION}], "raw": raw}))) == 1


def test_a_raw_conversation_has_calls_with_results():
    call = {"id": "c", "type": "function", "function": FUNCTION}
    raw = [
        {"role": "user", "content": "Remove Ada."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "deleted"},
    ]
    trace = read({"output": "done", "raw": raw}, provider=AGENT)
    assert [(c["name"], c["result_text"]) for c in trace.tool_calls] == [("delete_user", "deleted")]
    assert trace.response["content"] == "done"


@pytest.mark.parametrize(
    ("fields", "document"),
    [
        ({"provider": AGENT}, {}),
        ({"provider": {"id": "https://example.org/agent"}}, {}),
        ({"provider": {"id": "openai:agents:x"}}, {}),
        ({"provider": {"id": "anthropic:claude-agent-sdk"}}, {}),
        ({}, {"config": {"providers": [{"id": "openai:gpt-4o", "config": {"functionToolCallbacks": {"f": "x"}}}]}}),
    ],
)
def test_an_output_of_an_agent_says_nothing_about_calls(fields, document):
    assert "metadata.toolCalls" in read({"output": "done"}, document, **fields).gaps["calls"]
    assert read({"output": "done", "metadata": {"toolCalls": []}}, document, **fields).gaps == {}


def test_a_result_without_an_output_says_nothing_about_calls():
    assert "output" in read({"x_output": "done"}).gaps["calls"]


def test_calls_in_spans_are_read():
    attributes = {"gen_ai.tool.name": "delete_user", "gen_ai.tool.call.arguments": '{"id": 7}'}
    spans = [{"spanId": "a", "name": "tool", "startTime": 1, "attributes": attributes, "statusCode": 2}, {"name": "x"}]
    trace = read({"output": "done"}, {"traces": [{"traceId": "t", "spans": spans}]}, provider=AGENT, traceId="t")
    assert calls(trace) == [("delete_user", ARGUMENTS)]
    assert trace.tool_calls[0]["status"] == "error"
    assert trace.gaps == {}


def test_expectations_are_not_calls():
    test = {"vars": {"expected": {"name": "delete_user", "arguments": {}}}, "assert": [{"name": "a", "params": {}}]}
    assert calls(read({"output": "Hello."}, testCase=test, vars=test["vars"])) == []


@pytest.mark.parametrize(
    ("response", "fields"),
    [
        ({"output": "x", "steps": [{"name": "delete_user", "arguments": {}}]}, {}),
        ({"output": "x", "steps": [["delete_user"]]}, {}),
        ({"output": {"steps": [{"tool_name": "delete_user", "args": {}}]}}, {}),
        ({"output": "x", "raw": {"items": [{"tool": "delete_user", "arguments": {}}]}}, {}),
        ({"output": "x"}, {"outputs": [["delete_user"]]}),
    ],
)
def test_calls_of_unknown_forms_are_not_lost(response, fields):
    found = read(response, **fields)
    assert "delete_user" in found.reason if isinstance(found, DamagedTrace) else "calls" in found.gaps


def test_damaged_results_keep_their_scenario():
    assert promptfoo.identify(RESULTS[2]) == ("greet", 2)
    assert promptfoo.identify(RESULTS[0]) == ("remove-ada", None)
    assert promptfoo.identify(5) == (None, None)
    with pytest.raises(TraceError, match="is not the result of a test"):
        promptfoo.build({"x": 1})
    with pytest.raises(TraceError, match=r"response\.metadata\.toolCalls\[0\]\.name is missing"):
        promptfoo.build({**RESULTS[0], "response": {"metadata": {"toolCalls": [{"input": {}}]}, "output": "x"}})
