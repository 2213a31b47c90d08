"""Gemini's contents, requests and responses: what is read, and that no call is lost."""

from __future__ import annotations

import orjson
import pytest
from damage import ANYTHING, damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.gemini import reader as gemini
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "gemini"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.iterdir()}
BOTH, RESPONSE = DOCUMENTS["request-and-response"], DOCUMENTS["response"]
USER = {"role": "user", "parts": [{"text": "hi"}]}
DELETE = {"functionCall": {"name": "delete_user", "args": {"id": 7}}}


def read(document):
    return read_record(gemini.READER, document, TraceLocation(), "trace.json")


def answer(*parts, **fields):
    return {"contents": [USER, {"role": "model", "parts": list(parts), **fields}]}


def called(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "gemini"
    assert detect.detect_format([[document]]).name == "gemini"
    assert gemini.READER.split(document) == [document]


def test_several_traces_in_a_document_are_read():
    assert gemini.READER.split([BOTH, BOTH]) == [BOTH, BOTH]
    assert gemini.READER.split([RESPONSE, RESPONSE | {"response_id": "r9"}]) == [
        RESPONSE,
        RESPONSE | {"response_id": "r9"},
    ]


def test_a_request_and_its_response_are_one_trace():
    trace = read(BOTH)
    assert [message["role"] for message in trace.messages] == [
        *("system", "user", "assistant", "tool", "tool", "assistant"),
    ]
    assert called(trace) == [
        ("find_user", {"name": "Ada"}, "ok"),
        ("get_orders", {"name": "Ada"}, "error"),
        ("delete_user", {"id": 7}, "missing"),
    ]
    assert trace.tool_calls[0]["result"] == {"result": 7}
    assert (trace.messages[2]["content"], trace.messages[2]["reasoning"]) == (None, "I need her id.")
    assert (trace.model, trace.provider, trace.trace_id) == ("gemini-2.5-flash-001", "gcp.gemini", "r1")
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.usage["total_tokens"]) == (100, 15, 115)
    assert (trace.finish_reason, trace.system_instructions, trace.scenario_id) == ("stop", "Be kind.", "remove-account")
    assert [tool["name"] for tool in trace.tool_definitions] == ["find_user", "delete_user"]
    assert trace.tool_definitions[1]["parameters"]["type"] == "object"
    assert trace.gaps == {}


def test_calls_that_the_sdk_made_itself_are_in_the_response():
    trace = read(RESPONSE)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.response["content"], trace.turn_count) == ("User 7 is removed.", 1)
    assert trace.usage["total_tokens"] is None  # those of the call before are not recorded
    assert [warning["code"] for warning in trace.warnings] == ["tokens_incomplete"]
    assert called(read({"contents": [USER], "response": RESPONSE})) == called(trace)


def test_chunks_of_a_stream_are_one_response():
    trace = read(DOCUMENTS["stream"])
    assert called(trace) == [("delete_user", {"id": 7}, "missing")]
    assert (trace.messages[0]["content"], trace.usage["total_tokens"]) == ("I delete ", 29)
    assert called(read({"contents": "hi", "response": DOCUMENTS["stream"]})) == called(trace)


def test_code_that_ran_is_a_call():
    trace = read(DOCUMENTS["contents"])
    assert called(trace) == [("code_execution", {"language": "PYTHON", "code": "print(1 + 1)"}, "ok")]
    assert trace.messages[0]["parts"] == [
        {"type": "text", "text": "How many users are there?"},
        {"type": "inline_data"},
    ]


def test_tools_that_google_ran_are_calls():
    call = {"toolCall": {"id": "g", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}}
    result = {"toolResponse": {"id": "g", "toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}}}
    assert called(read(answer(call, result))) == [("google_search_web", {"queries": ["q"]}, "ok")]


def test_several_values_in_one_part_are_all_read():
    trace = read(answer({"text": "I delete.", **DELETE}))
    assert (trace.messages[1]["content"], called(trace)[0][0]) == ("I delete.", "delete_user")


def test_a_blocked_request_has_no_answer():
    trace = read({"contents": "hi", "response": {"promptFeedback": {"blockReason": "SAFETY"}}})
    assert (len(trace.messages), trace.finish_reason) == (1, "content_filter")


@pytest.mark.parametrize(
    ("document", "named"),
    [
        (answer({"text": "x"}, {"robotCall": {"do": "delete_user"}}), "contents[1].parts[1].robot_call"),
        (answer({"text": "x"}, actions=[["delete_user"]]), "contents[1].actions"),
        (answer({"text": "x"}) | {"outputs": [["delete_user"]]}, "`outputs`"),
        ({"contents": "hi", "response": {**RESPONSE, "steps": [["delete_user"]]}}, "`response.steps`"),
        (answer({"functionCall": {**DELETE["functionCall"], "partialArgs": [{"jsonPath": "$.id"}]}}), "partial_args"),
    ],
)
def test_unknown_parts_and_fields_are_a_gap(document, named):
    assert named in read(document).gaps["calls"]


@pytest.mark.parametrize(
    "document",
    [
        answer(DELETE, {"toolUse": {"name": "drop_all", "input": {"id": 7}}}),
        answer(DELETE, {"type": "tool_use", "name": "drop_all", "input": {"id": 7}}),
        {"candidates": [*DOCUMENTS["stream"][0]["candidates"], {"content": {"parts": [DELETE]}}]},
    ],
)
def test_a_call_that_is_not_read_is_an_error(document):
    found = read(document)
    assert isinstance(found, DamagedTrace)
    assert "looks like a call" in found.reason


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (answer({"functionCall": {"args": {}}}), r"contents\[1\].parts\[0\].function_call.name is missing"),
        (answer({"text": 5}), r"contents\[1\].parts\[0\].text is not text"),
        ({"contents": [5]}, r"contents\[0\] is not an object"),
        ({"candidates": 5}, "candidates is not a list"),
    ],
)
def test_errors_name_the_field(document, reason):
    with pytest.raises(TraceError, match=reason):
        gemini.build(document)


@given(damage_document(BOTH) | damage_document(RESPONSE) | damage_document(DOCUMENTS["stream"]))
def test_damage_is_refused_with_a_reason(document):
    read(document)


@given(ANYTHING)
def test_detection_never_fails(value):
    assert detect.find_format("gemini").claims(value) in (True, False)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        gemini.build({**BOTH, "metadata": nest_lists(100)})
