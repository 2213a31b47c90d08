"""Any value in place of messages gives a result or None, never an exception."""

from __future__ import annotations

import json

import pytest
from damage import ANYTHING, apply_changes, damage_document, nest_lists, places
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.formats.core.builder.conversation import RawMessage
from evalgate.adapters.formats.messages.sniff_messages import SHAPES, sniff_messages

PART = {"type": "tool-look_up", "toolCallId": "c1", "state": "output-available", "input": {}, "output": 1}
MESSAGES = [
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image"}]}],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
    {"role": "assistant", "tool_calls": [{"id": "t", "function": {"name": "n", "arguments": "{}"}}]},
    {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search"}},
    {"type": "function_call_output", "call_id": "c", "output": "x", "status": "completed"},
    {"type": "ai", "data": {"content": "x", "tool_calls": [{"name": "n", "args": {}, "id": "t"}]}},
    {"lc": 1, "id": ["x", "AIMessage"], "kwargs": {"content": "x", "response_metadata": {"model": "m"}}},
    {"role": "model", "parts": [{"function_call": {"name": "n", "args": {}}}, {"text": "x"}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "n", "response": {"error": "x"}}}]},
    {"id": "m", "role": "assistant", "parts": [{"type": "text", "text": "x"}, PART]},
    {"toolCallId": "c", "toolName": "n", "input": "{}"},
    {"kind": "request", "parts": [{"part_kind": "retry-prompt", "content": [1], "tool_name": "n"}]},
    {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "n", "args": "{}"}]},
    {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}]},
    {"config": {"system_instruction": "x"}, "contents": [{"role": "user", "parts": [{"text": "x"}]}]},
]
KEYS = sorted({place[-1] for place in places(MESSAGES) if place and isinstance(place[-1], str)})
ODD = st.recursive(ANYTHING, lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=4), max_leaves=4)


def is_answer(found):
    return found is None or all(isinstance(message, RawMessage) for message in found)


@given(damage_document(MESSAGES))
def test_messages_of_every_shape_with_damage_are_an_answer_or_none(document):
    assert is_answer(sniff_messages(document))
    assert all(is_answer(sniff_messages(message)) for message in document)


@given(ODD)
def test_any_json_is_an_answer_or_none(value):
    assert is_answer(sniff_messages(value))
    assert all(shape.is_shape(value) in (True, False) for shape in SHAPES)


@pytest.mark.parametrize("place", [place for place in places(MESSAGES) if len(place) > 1], ids=json.dumps)
def test_a_list_in_any_place_is_an_answer_or_none(place):
    for instead in ([], [[]], {"type": []}, nest_lists(40)):
        document = apply_changes(MESSAGES, [(place, (instead,))])
        assert is_answer(sniff_messages(document[place[0]]))


def test_nested_wrappers_end():
    value = {"role": "user", "content": "x"}
    for _ in range(1000):
        value = {"messages": [[value]]}
    assert sniff_messages(value) is None
