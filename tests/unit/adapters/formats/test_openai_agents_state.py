from __future__ import annotations

import pytest

from evalgate.adapters.formats.openai_agents import OPENAI_AGENTS_STATE

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


@pytest.mark.parametrize("value", [None, [], {}, {"$schemaVersion": "1", "original_input": ""}])
def test_other_values_are_not_claimed(value):
    assert not OPENAI_AGENTS_STATE.claims(value)
    assert OPENAI_AGENTS_STATE.claims(state())
