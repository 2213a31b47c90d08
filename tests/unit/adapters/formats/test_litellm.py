from __future__ import annotations

import copy

import orjson
import pytest
from documents import ROOT
from trace_table import read_traces

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.litellm import LITELLM
from evalgate.adapters.formats.litellm import reader as litellm
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "litellm"
SESSION = [orjson.loads(line) for line in (FOLDER / "session.jsonl").read_bytes().splitlines()]


def payload(number=0, **fields):
    return {**copy.deepcopy(SESSION[number]), **fields}


def read(*payloads):
    (record,) = litellm.split(list(payloads))
    return read_record(LITELLM.reader, record, TraceLocation("x.jsonl"), "x.jsonl")


def names(trace):
    return [call["name"] for call in trace.tool_calls]


def answer(**message):
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}


def test_the_calls_of_a_session_are_one_run_in_order():
    trace = next(trace for trace in read_traces(FOLDER) if trace.scenario_id == "remove-user")
    assert [(c["name"], c["arguments"], c["status"], c["step"]) for c in trace.tool_calls] == [
        ("find_user", {"name": "Ada"}, "ok", 1),
        ("delete_user", {"id": 7}, "ok", 2),
        ("write_note", {"text": "removed 7"}, "missing", 3),
        ("send_mail", {"to": "ada@example.org"}, "ok", 4),
    ]
    assert [message["role"] for message in trace.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant"),
    ]
    assert (trace.trial, trace.model, trace.provider, trace.tags) == (1, "gpt-4o-mini", "openai", ["nightly"])
    assert trace.response["content"] == "Ada is removed."
    assert (trace.cost["usd"], trace.latency["total_ms"]) == (0.005, 5000.0)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (490, 37)
    assert [tool["name"] for tool in trace.tool_definitions] == ["delete_user"]
    assert [call["step"] for call in trace.llm_calls] == [1, 2, 3, 4]
    assert trace.gaps == {}


def test_a_failed_model_call_is_an_error():
    trace = next(trace for trace in read_traces(FOLDER) if trace.scenario_id == "limited")
    assert trace.status == "error"
    assert trace.error == {"type": "RateLimitError", "message": "litellm.RateLimitError: try later"}
    assert trace.usage["total_tokens"] is None


@pytest.mark.parametrize("value", [SESSION[0], SESSION, {"model": "m", "standard_logging_object": SESSION[0]}])
def test_payloads_are_detected(value):
    assert detect.detect_format([value]).name == "litellm"
    assert names(read(value)) in ([*names(read(*SESSION))], ["find_user"])


def test_calls_without_an_id_are_one_run_if_each_request_continues_the_last():
    loop = [payload(n, trace_id=f"t{n}", metadata={}) for n in (0, 1, 4)]
    assert names(read(*loop)) == ["find_user", "delete_user"]
    other = payload(trace_id="x", metadata={}, messages=[{"role": "user", "content": "Hi"}])
    assert len(litellm.split([*loop, other])) == 2


def test_a_call_in_an_answer_that_no_request_repeats_is_read():
    lost = answer(tool_calls=[{"id": "z", "function": {"name": "delete_user", "arguments": "{}"}}])
    assert names(read(payload(0, response=lost), payload(0, startTime=1790000001.0))) == ["delete_user", "find_user"]


@pytest.mark.parametrize(
    "response",
    [
        answer(tool_calls=[{"id": "z", "function": {"name": "delete_user", "arguments": "{}"}}]),
        answer(function_call={"name": "delete_user", "arguments": "{}"}),
        {"type": "message", "role": "assistant", "content": [{"type": "tool_use", "name": "delete_user", "input": {}}]},
        {"id": "r", "output": [{"type": "function_call", "call_id": "z", "name": "delete_user", "arguments": "{}"}]},
    ],
)
def test_answers_of_every_interface_are_read(response):
    assert names(read(payload(response=response))) == ["delete_user"]


@pytest.mark.parametrize(
    "response",
    [
        {**answer(content="x"), "toolCalls": [{"name": "delete_user", "input": {}}]},
        answer(content="x", toolCalls=[{"name": "delete_user", "args": {}}]),
        {"choices": [*answer(content="x")["choices"], answer(tool_calls=[{"name": "delete_user", "args": {}}])]},
        {"unknown": "shape"},
    ],
)
def test_an_answer_of_an_unknown_form_is_an_error(response):
    found = read(payload(response=response))
    assert isinstance(found, DamagedTrace)
    assert "delete_user" in found.reason or "response is not of a known form" in found.reason


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": "user", "content": "redacted-by-litellm"}]},
        {"response": answer(content="redacted-by-litellm")},
        {"response": None},
        {"messages": "redacted-by-litellm", "response": "redacted-by-litellm"},
    ],
)
def test_content_that_was_not_logged_is_missing(fields):
    trace = read(payload(4), payload(4, startTime=1790000009.0, endTime=1790000010.0, **fields))
    assert trace.gaps.keys() == {"calls", "messages"}
    assert "turn_off_message_logging" in trace.gaps["calls"]


@pytest.mark.parametrize(
    "fields",
    [
        {"new_field": [{"delete_user": {}}]},
        {"response": {**answer(content="x"), "steps": [["delete_user"]]}},
        {"response": answer(content=[{"type": "toolThing", "value": "delete_user"}])},
    ],
)
def test_unknown_fields_and_parts_make_the_calls_incomplete(fields):
    assert "calls" in read(payload(**fields)).gaps


def test_a_tool_that_failed_in_the_proxy_is_an_error():
    trace = read(SESSION[0], payload(3, status="failure", error_str="no such tool"))
    assert trace.tool_calls[-1]["error"]["message"] == "no such tool"
    assert trace.status == "ok"
    with pytest.raises(TraceError, match="mcp_tool_call_metadata is missing"):
        litellm.build([payload(3, metadata={})])


def test_other_kinds_of_calls_have_no_messages():
    embedding = payload(0, call_type="aembedding", messages="x", response={"data": []}, startTime=1790000000.5)
    trace = read(SESSION[0], embedding)
    assert len(trace.messages) == 3
    assert trace.gaps == {}


def test_a_cost_of_0_is_unknown_unless_the_answer_came_from_the_cache():
    assert read(payload(response_cost=0.0)).cost["usd"] is None
    debug = {"error_str": "no price", "traceback_str": ""}
    assert read(payload(response_cost_failure_debug_info=debug)).cost["usd"] is None
    assert read(payload(), payload(1, response_cost=0.0, cache_hit=True)).cost["usd"] == 0.001


def test_texts_are_prompt_and_answer():
    trace = read(payload(call_type="text_completion", messages="Hi", response={"choices": [{"text": "Hello"}]}))
    assert [message["content"] for message in trace.messages] == ["Hi", "Hello"]
    trace = read(payload(messages="Hi", response="Hello", model_parameters={"instructions": "Be kind."}))
    assert [message["content"] for message in trace.messages] == ["Be kind.", "Hi", "Hello"]


def test_a_damaged_run_keeps_its_scenario():
    assert litellm.identify([payload(messages=[5])]) == ("remove-user", 1)
    assert litellm.identify([5]) == (None, None)
    with pytest.raises(TraceError, match="messages are not of a known form"):
        litellm.build([payload(messages=[5])])
    with pytest.raises(TraceError, match="is not the log of a model call"):
        litellm.build([SESSION[0], {"x": 1}])
