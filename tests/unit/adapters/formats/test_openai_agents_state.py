from __future__ import annotations

import pytest
from damage import damage_document
from hypothesis import given

from evalgate.adapters.formats.openai_agents import OPENAI_AGENTS_STATE, reader
from evalgate.errors import TraceError

CALL = {
    "type": "function_call",
    "call_id": "c1",
    "id": "1",
    "name": "close",
    "arguments": '{"account": "a-1"}',
}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "closed"}
ANSWER = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "It is closed."}],
}


def item(kind, raw):
    return {"type": kind, "agent": {"name": "Clerk"}, "raw_item": raw}


def answered(number, tokens_in, tokens_out):
    usage = {
        "requests": 1,
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_tokens_details": [{"cached_tokens": 8}],
        "output_tokens_details": [{"reasoning_tokens": 0}],
    }
    return {"response_id": f"resp_{number}", "usage": usage, "output": []}


CALLED = item("tool_call_item", CALL)
WAITING = [CALLED, item("tool_approval_item", CALL)]
DONE = [CALLED, item("tool_call_output_item", OUTPUT), item("message_output_item", ANSWER)]


def state(items=DONE, step="next_step_final_output", **fields):
    return {
        "$schemaVersion": "1.13",
        "original_input": "Close my account.",
        "current_agent": {"name": "Clerk"},
        "current_step": {"type": step, "data": {}},
        "generated_items": items,
        "session_items": items,
        "model_responses": [answered(1, 100, 10), answered(2, 200, 20)],
        "trace": {"object": "trace", "id": "trace_1", "workflow_name": "Support"},
        **fields,
    }


def test_input_and_items_are_the_conversation():
    trace = reader.build_state(state())
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Close my account."),
        ("assistant", None),
        ("tool", "closed"),
        ("assistant", "It is closed."),
    ]
    assert trace.response["content"] == "It is closed."
    assert (trace.status, trace.trace_id, trace.name) == ("ok", "trace_1", "Support")
    assert trace.agent == {"name": "Clerk", "framework": "openai-agents"}


def test_tokens_are_those_of_the_responses():
    trace = reader.build_state(state())
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (300, 30)
    assert trace.usage["cache_read_input_tokens"] == 16
    assert [(call["response_id"], call["step"]) for call in trace.llm_calls] == [("resp_1", 1), ("resp_2", 2)]


def test_a_run_that_waits_for_approval_is_incomplete_and_its_call_is_read_once():
    trace = reader.build_state(state(WAITING, "next_step_interruption"))
    assert trace.status == "incomplete"
    assert [(c["name"], c["arguments"], c["status"]) for c in trace.tool_calls] == [
        ("close", {"account": "a-1"}, "missing")
    ]


def test_a_run_that_just_began_holds_only_its_input():
    trace = reader.build_state(state([], current_step=None, model_responses=[], trace=None))
    assert [m["content"] for m in trace.messages] == ["Close my account."]
    assert (trace.status, trace.usage["total_tokens"]) == ("incomplete", None)


def test_input_may_be_a_list_of_items():
    trace = reader.build_state(
        state(original_input=[{"role": "user", "content": "Hi"}, {"role": "user", "content": "Close."}])
    )
    assert [m["content"] for m in trace.messages if m["role"] == "user"] == ["Hi", "Close."]


def test_tokens_of_0_are_unknown():
    assert reader.build_state(state(model_responses=[answered(1, 0, 0)])).usage["total_tokens"] is None


def test_metadata_names_the_scenario():
    marked = {"id": "trace_1", "metadata": {"evalgate.scenario.id": "close", "evalgate.trial": 1}}
    trace = reader.build_state(state(trace=marked))
    assert (trace.scenario_id, trace.trial) == ("close", 1)
    assert reader.identify_state(state(trace=marked)) == ("close", 1)


def test_errors_name_the_field():
    with pytest.raises(TraceError, match=r"session_items\[0\]"):
        reader.build_state(state(["x"]))
    with pytest.raises(TraceError, match=r"model_responses\[0\]\.usage\.input_tokens"):
        reader.build_state(state(model_responses=[{"usage": {"input_tokens": "many"}}]))


@pytest.mark.parametrize("value", [None, [], {}, {"$schemaVersion": "1", "original_input": ""}])
def test_other_values_are_not_claimed(value):
    assert not OPENAI_AGENTS_STATE.claims(value)
    assert OPENAI_AGENTS_STATE.claims(state())


@given(damage_document(state()))
def test_damage_is_a_trace_or_a_reason(document):
    reader.identify_state(document)
    try:
        reader.build_state(document)
    except TraceError as error:
        assert "\n" not in str(error)
