from __future__ import annotations

import json

import pytest
from damage import damage_document, nest_lists
from hypothesis import given, settings

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.toolbench import reader as toolbench
from evalgate.errors import TraceError


def make_message(role, content, **fields):
    return {"role": role, "content": content, **fields}


def asked(name, **arguments):
    return make_message("assistant", None, function_call={"name": name, "arguments": json.dumps(arguments)})


def answered(name, error="", response="ok"):
    return make_message("function", json.dumps({"error": error, "response": response}), name=name)


def document(**fields):
    chain = [
        make_message("system", "You are AutoGPT."),
        make_message("user", "Find the agency."),
        asked("list_all"),
        answered("list_all"),
        asked("get_one", id="x"),
        answered("get_one", error="Message error", response=""),
        asked("Finish", return_type="give_answer", final_answer="Agency X, Tel. 5"),
    ]
    answer = {
        "valid_data": True,
        "query_count": 3,
        "total_tokens": 2916,
        "final_answer": "{}",
        "finish_type": "give_answer",
        "function": [{"name": "get_one", "description": "d", "parameters": {}, "optional": []}],
        "query": "Find the agency.",
        "train_messages": [chain[:3], chain],
    }
    return {"win": True, "tree": {"size": 7}, "forward_args": {}, "answer_generation": {**answer, **fields}}


def test_the_last_chain_is_the_run():
    trace = toolbench.build(document())
    assert [call["name"] for call in trace.tool_calls] == ["list_all", "get_one", "Finish"]
    assert trace.tool_calls[1]["arguments"] == {"id": "x"}
    assert trace.tool_calls[0]["status"] == "ok"


def test_the_answer_handed_to_finish_is_the_final_response():
    trace = toolbench.build(document())
    assert trace.response == {
        "content": "Agency X, Tel. 5",
        "finish_reason": None,
        "message_index": 6,
    }
    assert trace.tool_calls[-1]["status"] == "ok"
    assert trace.finish_reason == "stop"


def test_a_result_that_contains_an_error_is_an_error():
    call = toolbench.build(document()).tool_calls[1]
    assert (call["status"], call["error"]["message"]) == ("error", "Message error")


@pytest.mark.parametrize(
    "result", ['{"error": "no such id", "response": "cut o', '{"error": "no such id", "error": ""}']
)
def test_an_error_is_one_also_in_a_result_that_is_cut_or_damaged(result):
    chain = [make_message("user", "Go."), asked("get_one"), make_message("function", result, name="get_one")]
    call = toolbench.build(document(train_messages=[chain])).tool_calls[0]
    assert (call["status"], call["error"]["message"]) == ("error", "no such id")


def test_half_a_surrogate_pair_in_a_result_is_not_text():
    chain = [
        make_message("user", "Go."),
        asked("get_one"),
        make_message("function", '{"error": "\\ud800"}', name="get_one"),
    ]
    call = toolbench.build(document(train_messages=[chain])).tool_calls[0]
    assert (call["status"], call["error"]["message"]) == ("error", "\\ud800")


def test_only_the_total_of_tokens_is_known():
    trace = toolbench.build(document())
    assert trace.usage["total_tokens"] == 2916
    assert trace.usage["input_tokens"] is trace.usage["output_tokens"] is None
    assert trace.cost["usd"] is trace.latency["total_ms"] is None


def test_the_search_says_whether_it_won():
    assert toolbench.build(document()).scores == {"win": 1.0}


def test_a_run_that_gave_up_has_that_finish_reason():
    trace = toolbench.build(document(finish_type="give_up"))
    assert trace.finish_reason == "give_up"


def test_tools_are_listed_without_private_fields():
    assert toolbench.build(document()).tool_definitions == [{"name": "get_one", "description": "d", "parameters": {}}]


def test_a_search_without_an_answer_is_refused():
    with pytest.raises(TraceError, match="train_messages is empty: no chain led to an answer"):
        toolbench.build(document(train_messages=[]))


def test_a_search_that_found_no_answer_is_refused_as_such():
    failed = document(valid_data=False, final_answer="")
    del failed["answer_generation"]["train_messages"]
    assert detect.detect_format([failed]).name == "toolbench"
    with pytest.raises(TraceError, match="no chain led to an answer"):
        toolbench.build(failed)


def test_an_error_names_the_chain_and_message():
    with pytest.raises(TraceError, match=r"train_messages\[0\]\[0\]\.role is not one of system"):
        toolbench.build(document(train_messages=[[make_message("robot", "x")]]))


def test_content_identifies_the_format():
    assert detect.detect_format([document()]).name == "toolbench"


def test_a_record_nested_too_deep_is_refused():
    with pytest.raises(TraceError, match="64 levels"):
        toolbench.build(document(x=nest_lists(70)))


@settings(max_examples=100)
@given(damage_document(document()))
def test_any_damage_gives_a_trace_or_a_reason(record):
    toolbench.READER.identify(record)
    detect.find_claiming_format(record)
    try:
        toolbench.build(record)
    except TraceError as error:
        assert "\n" not in str(error)
