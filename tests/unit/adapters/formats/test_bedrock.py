"""Amazon Bedrock's Converse API and Strands Agents: what is read, and that no call is lost."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from damage import ANYTHING, damage_document, nest_lists
from documents import ROOT
from hypothesis import given

from evalgate.adapters.formats.bedrock import reader as bedrock
from evalgate.adapters.formats.core.builder.trace_builder import read_record
from evalgate.adapters.formats.open import detect
from evalgate.errors import TraceError
from evalgate.models.trace.trace import DamagedTrace, TraceLocation

FOLDER = ROOT / "tests" / "recordings" / "bedrock"
DOCUMENTS = {path.stem: orjson.loads(path.read_bytes()) for path in FOLDER.iterdir()}
CONVERSE, STRANDS = DOCUMENTS["converse"], DOCUMENTS["strands"]
DELETE = {"toolUse": {"toolUseId": "d", "name": "delete_user", "input": {"id": 7}}}
USER = {"role": "user", "content": [{"text": "hi"}]}


def read(document):
    return read_record(bedrock.READER, document, TraceLocation(), "trace.json")


def called(trace):
    return [(call["name"], call["arguments"], call["status"]) for call in trace.tool_calls]


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_each_document_is_claimed(document):
    assert detect.detect_format([document]).name == "bedrock"
    assert detect.detect_format([[document]]).name == "bedrock"
    assert (bedrock.READER.split(document), bedrock.READER.split([document] * 2)) == ([document], [document] * 2)


def test_a_request_and_its_response_are_one_trace():
    trace = read(CONVERSE)
    assert [message["role"] for message in trace.messages] == [
        *("system", "user", "assistant", "tool", "tool", "assistant"),
    ]
    assert called(trace) == [
        ("find_user", {"name": "Ada"}, "ok"),
        ("get_orders", {"name": "Ada"}, "error"),
        ("delete_user", {"id": 7}, "missing"),
    ]
    assert [call["result"] for call in trace.tool_calls] == [{"id": 7}, "no such table", None]
    assert (trace.messages[2]["content"], trace.messages[2]["reasoning"]) == ("I look her up.", "I need her id.")
    assert (trace.system_instructions, trace.finish_reason) == ("Be kind.", "tool_calls")
    assert (trace.model, trace.provider) == (CONVERSE["modelId"], "aws.bedrock")
    assert [tool["name"] for tool in trace.tool_definitions] == ["find_user", "delete_user"]
    assert (trace.scenario_id, trace.gaps) == ("remove-account", {})


def test_input_tokens_include_the_cache():
    usage = read(CONVERSE).usage
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (120, 10, 130)
    included = {"inputTokens": 120, "outputTokens": 10, "totalTokens": 130, "cacheReadInputTokens": 100}
    usage = read({**CONVERSE, "response": CONVERSE["response"] | {"usage": included}}).usage
    assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (120, 100)


def test_only_a_single_model_call_has_the_latency_of_the_run():
    assert read(DOCUMENTS["answer"]).latency == {"total_ms": 420.0, "source": "recorded"}
    assert read(CONVERSE).latency["total_ms"] is None
    assert read(CONVERSE).llm_calls[0]["duration_ms"] == 812
    assert read(STRANDS).latency["total_ms"] is None


def test_messages_of_strands_have_their_tokens():
    trace = read(STRANDS)
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.tool_calls[0]["result"], trace.response["content"]) == ("removed\n1 row", "User 7 is removed.")
    assert (trace.usage["total_tokens"], [call["duration_ms"] for call in trace.llm_calls]) == (89, [600, 500])


def test_a_session_of_strands_has_times():
    trace = read(DOCUMENTS["strands-session"])
    assert called(trace) == [("delete_user", {"id": 7}, "error")]
    assert trace.latency == {"total_ms": 3000.0, "source": "timestamps"}


def test_a_redacted_message_is_read_as_what_replaced_it():
    session = deepcopy(DOCUMENTS["strands-session"])
    session[0]["redact_message"] = {"role": "user", "content": [{"text": "[redacted]"}]}
    assert read(session).messages[0]["content"] == "[redacted]"


def test_a_snapshot_of_strands_has_its_prompt_and_scenario():
    trace = read(DOCUMENTS["strands-snapshot"])
    assert called(trace) == [("delete_user", {"id": 7}, "ok")]
    assert (trace.scenario_id, trace.system_instructions, trace.gaps) == ("remove-user", "Be kind.", {})


def test_a_result_of_an_agent_lacks_the_calls_before_its_last_message():
    result = {"type": "agent_result", "message": STRANDS[-1], "stop_reason": "end_turn", "checkpoint": None}
    assert detect.detect_format([result]).name == "bedrock"
    trace = read(result)
    assert (trace.response["content"], trace.finish_reason) == ("User 7 is removed.", "stop")
    assert "agent.messages" in trace.gaps["calls"]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"image": {"format": "png", "source": {"bytes": "AAAA"}}}, "image"),
        ({"document": {"name": "d", "source": {"text": "x"}}}, "document"),
    ],
)
def test_media_are_reduced_to_their_kind(block, part):
    trace = read({"modelId": "m", "messages": [{"role": "user", "content": [block, {"text": "see"}]}]})
    assert trace.messages[0]["parts"] == [{"type": part}, {"type": "text", "text": "see"}]
    asked = {"role": "assistant", "content": [DELETE]}
    result = {"role": "user", "content": [{"toolResult": {"toolUseId": "d", "content": [block]}}]}
    assert read([asked, result]).tool_calls[0]["result"] == [{"type": part}]


def test_text_of_citations_and_guarded_content_is_read():
    blocks = [
        {"citationsContent": {"content": [{"text": "It is "}, {"text": "so."}], "citations": [{"title": "t"}]}},
        {"guardContent": {"text": {"text": "Sure.", "qualifiers": ["query"]}}},
    ]
    trace = read([USER, {"role": "assistant", "content": blocks}])
    assert (trace.messages[1]["content"], trace.messages[1]["parts"]) == ("It is so.\nSure.", None)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"content": [{"text": "x"}, {"computerUse": {"command": "delete_user"}}]}, "content[1].computerUse"),
        ({"content": [{"text": "x"}], "actions": [["delete_user", 7]]}, "messages[1].actions"),
        ({"content": [{"text": "x", "invoke": '["delete_user"]'}]}, "content[0].invoke"),
    ],
)
def test_unknown_blocks_and_fields_are_a_gap(change, named):
    trace = read({"modelId": "m", "messages": [USER, {"role": "assistant", **change}]})
    assert named in trace.gaps["calls"]
    assert trace.warnings[-1]["code"] == "missing_evidence"


@pytest.mark.parametrize("key", ["outputs", "completion", "steps"])
def test_unknown_fields_of_the_document_are_a_gap(key):
    assert f"`{key}`" in read({**CONVERSE, key: [["delete_user"]]}).gaps["calls"]
    assert f"`response.{key}`" in read({**CONVERSE, "response": {**CONVERSE["response"], key: [1]}}).gaps["calls"]


@pytest.mark.parametrize(
    "block",
    [
        {"functionCall": {"name": "drop_all", "args": {"id": 7}}},
        {"type": "x", "name": "drop_all", "input": {"id": 7}},
        {"toolUses": [{"name": "drop_all", "input": {"id": 7}}]},
    ],
)
def test_a_call_in_another_shape_is_an_error(block):
    found = read([USER, {"role": "assistant", "content": [DELETE, block]}])
    assert isinstance(found, DamagedTrace)
    assert "content[1]" in found.reason


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "robot", "content": []}, r"messages\[0\].role is not one of"),
        ({"role": "user", "content": 5}, r"messages\[0\].content is not a list"),
        ({"role": "user", "content": [{"toolUse": {"input": {}}}]}, r"content\[0\].toolUse.name is missing"),
        ({"role": "user", "content": [{"toolUse": {"name": "n", "input": [1]}}]}, "toolUse.input is neither"),
    ],
)
def test_errors_name_the_field(message, reason):
    with pytest.raises(TraceError, match=reason):
        bedrock.build([message])


@given(damage_document(CONVERSE) | damage_document(STRANDS) | damage_document(DOCUMENTS["strands-snapshot"]))
def test_damage_is_refused_with_a_reason(document):
    read(document)


@given(ANYTHING)
def test_detection_never_fails(value):
    assert detect.find_format("bedrock").claims(value) in (True, False)


def test_deep_values_are_refused():
    with pytest.raises(TraceError):
        bedrock.build({**CONVERSE, "requestMetadata": nest_lists(100)})
