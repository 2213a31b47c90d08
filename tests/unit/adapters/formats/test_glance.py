from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalgate.adapters.formats.core.builder.conversation import get_instructions
from evalgate.adapters.formats.native.glance import glance_at
from evalgate.adapters.formats.native.messages import read_conversation
from evalgate.adapters.formats.native.reader import build
from evalgate.adapters.formats.native.unknown_fields import UnknownFields
from evalgate.models.trace.trace import Trace, TraceLocation
from evalgate.models.trace.trace_document import encode_trace

CALL = {"id": "c1", "name": "get_order", "arguments": {"order": "A1"}}
PLAIN: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2", "name": "wait"}]},
    {"role": "tool", "tool_call_id": "c2", "content": "", "is_error": True, "name": "wait"},
    {"role": "tool", "tool_call_id": "c1", "content": "on its way", "duration_seconds": 1, "exit_code": 0},
    {"role": "assistant", "content": "On its way."},
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": ""},
]
ODD = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, 1e300, 10**12, "", "c1", "c2", "user", "tool", "system", [], {}, "x"),
        *([{"type": "text", "text": "hi"}], {"a": [{"b": []}]}, [CALL], {"a": "1"}),
    ]
)
KEYS = st.sampled_from(
    [
        *("role", "content", "tool_calls", "tool_call_id", "name", "is_error", "exit_code", "id"),
        *("duration_seconds", "timestamp", "finish_reason", "arguments", "zzz", "parts", "turn"),
    ]
)


def document(messages: list[Any]) -> dict[str, Any]:
    return {"schema": "evalgate.trace/1", "messages": messages}


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth - 1):
        inner = {"in": inner}
    return inner


@st.composite
def damaged(draw) -> list[Any]:
    """A plain conversation with up to three changes: it raises, warns or is still plain."""
    messages: list[Any] = copy.deepcopy(PLAIN)
    for _ in range(draw(st.integers(0, 3))):
        assume(messages)
        at = draw(st.integers(0, len(messages) - 1))
        deed = draw(st.sampled_from(["drop", "swap", "repeat", "field", "call", "replace"]))
        if deed == "drop":
            del messages[at]
        elif deed == "swap":
            messages.append(messages.pop(at))
        elif deed == "repeat":
            messages.insert(at, copy.deepcopy(messages[at]))
        elif deed == "replace":
            messages[at] = copy.deepcopy(draw(ODD))
        else:
            target = messages[at]
            calls = target.get("tool_calls") if isinstance(target, dict) else None
            if deed == "call" and isinstance(calls, list) and calls and isinstance(calls[0], dict):
                target = calls[0]
            if isinstance(target, dict):
                key = draw(st.sampled_from([*target, draw(KEYS)]))
                if draw(st.booleans()):
                    target[key] = copy.deepcopy(draw(ODD))
                else:
                    target.pop(key, None)
    return messages


@given(damaged())
def test_a_glance_finds_the_same_as_careful_reading(messages):
    found = glance_at(document(messages))
    assume(found is not None)

    unknown = UnknownFields()
    conversation = read_conversation(document(messages), unknown)

    assert not unknown.found
    assert not conversation.list_warnings()
    assert found.called == [call["name"] for call in conversation.calls]
    assert found.messages == len(conversation.messages)
    assert found.turns == conversation.messages[-1]["turn"]
    assert found.response == conversation.get_response()
    assert found.instructions == get_instructions(conversation.messages)
    assert found.read() == (conversation.messages, conversation.calls)
    assert all(call["status"] != "missing" for call in conversation.calls)
    assert all(call["requestor"] == "assistant" for call in conversation.calls)


def test_a_plain_conversation_is_read_on_first_access():
    trace = build(document(PLAIN))

    assert trace.glance is not None
    assert (trace.called, trace.turn_count) == (["get_order", "wait"], 2)
    assert trace.response["content"] == "On its way."
    assert trace.glance is not None

    assert [call["status"] for call in trace.tool_calls] == ["ok", "error"]
    assert trace.glance is None
    assert (trace.called, trace.turn_count) == (["get_order", "wait"], 2)


@pytest.mark.parametrize("at", range(len(PLAIN)))
def test_unknown_content_is_left_to_careful_reading(at):
    assert glance_at(document([*PLAIN[:at], {**PLAIN[at], "zzz": 1}, *PLAIN[at + 1 :]])) is None


def test_arguments_may_be_nested_as_deep_as_other_values():
    def asking(arguments: Any) -> dict[str, Any]:
        messages = copy.deepcopy(PLAIN)
        messages[2]["tool_calls"][0]["arguments"] = arguments
        return document(messages)

    assert glance_at(asking(nested(59))) is not None
    assert glance_at(asking(nested(60))) is None


def test_an_unread_trace_can_be_copied_and_sent_to_another_process():
    trace = build(document(PLAIN))

    sent = pickle.loads(pickle.dumps(trace))  # noqa: S301  (our own bytes)

    assert isinstance(sent, Trace)
    assert encode_trace(sent) == encode_trace(build(document(PLAIN)))


def test_an_unread_trace_lacks_nothing_that_every_trace_has():
    glance = glance_at(document(PLAIN))
    assert glance is not None
    unread = Trace.from_glance(glance, TraceLocation("t/a.jsonl"))
    messages, calls = glance.read()
    made = Trace("", messages, calls, glance.response, system_instructions="Be kind.", source=unread.source)

    assert repr(unread) == repr(made)
    assert [getattr(unread, name) for name in Trace.__slots__] == [getattr(made, name) for name in Trace.__slots__]


def test_nothing_else_is_made_on_demand():
    with pytest.raises(AttributeError, match="no_such_field"):
        _ = build(document(PLAIN)).no_such_field
