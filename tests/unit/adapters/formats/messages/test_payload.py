from __future__ import annotations

import json

import pytest
from damage import ANYTHING
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.formats.core.builder.conversation import conversation_from_messages
from evalgate.adapters.formats.messages.sniff_messages import read_payload

ASKED = "role='assistant' content=None tool_calls=[{'id': 'c1', 'type': 'function', 'function': " + repr(
    {"name": "find", "arguments": '{"q": 1}'}
)
SHOWN = [
    "role='user' content='Find it.' name=None metrics=Metrics(tokens=0)",
    f"{ASKED}}}] timer=<Timer 0x1>",
    "role='tool' content='[\"it\"]' tool_call_id='c1' tool_name='find'",
]


def spoken(value, speaker="user"):
    return [(message.role, message.content) for message in read_payload(value, speaker) or []]


@pytest.mark.parametrize("speaker", ["user", "assistant"])
def test_bare_text_is_a_message_of_the_speaker(speaker):
    assert spoken("Hello", speaker) == [(speaker, "Hello")]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"prompt": "Hi"},
        {"input": "Hi"},
        {"args": ["Hi"]},
        {"question": '"Hi"'},
        {"new_message": {"role": "user", "parts": [{"text": "Hi"}]}},
        {"role": "user", "text": "Hi"},
        "role='user' content='Hi'",
        [{"role": "user", "content": "Hi"}],
    ],
)
@pytest.mark.parametrize("written", [lambda value: value, json.dumps, repr], ids=["value", "json", "python"])
def test_content_is_found_in_any_representation(value, written):
    assert spoken(value if isinstance(value, str) else written(value)) == [("user", "Hi")]


def test_messages_that_were_turned_into_python_text_are_read_with_calls_and_results():
    conversation = conversation_from_messages(read_payload({"messages": SHOWN, "tools": []}, "user"))
    assert [message["role"] for message in conversation.messages] == ["user", "assistant", "tool"]
    call = conversation.calls[0]
    assert (call["id"], call["name"], call["arguments"]) == ("c1", "find", {"q": 1})
    assert (call["status"], call["result_text"]) == ("unknown", '["it"]')


def test_calls_without_a_message_around_them_are_one_message():
    value = [
        {"toolCallId": "a", "toolName": "f", "input": '{"x": 1}'},
        {"toolCallId": "b", "toolName": "g", "args": {}},
    ]
    conversation = conversation_from_messages(read_payload(value, "assistant"))
    assert [(call["name"], call["arguments"], call["step"]) for call in conversation.calls] == [
        ("f", {"x": 1}, 1),
        ("g", {}, 1),
    ]


@pytest.mark.parametrize(
    ("role", "write"), [("tool", json.dumps), ("assistant", json.dumps), ("tool", lambda value: value)]
)
def test_calls_that_are_all_of_a_message_are_calls(role, write):
    def text(name):
        function = {"name": name, "arguments": {}}
        return write([{"function": function, "id": f"id-{name}", "type": "function"}])

    value = [
        {"role": "user", "content": "Greet."},
        {"role": role, "content": text("hello")},
        {"role": role, "content": text("bye")},
        {"role": "tool", "content": "Hello!"},
        {"role": "tool", "content": "Bye!"},
    ]
    conversation = conversation_from_messages(read_payload(value, "user"))
    assert [(call["name"], call["result_text"], call["step"]) for call in conversation.calls] == [
        ("hello", "Hello!", 1),
        ("bye", "Bye!", 1),
    ]


@pytest.mark.parametrize("value", [None, "", "  ", {}, [], 5, {"city": "Tokyo"}, [{"toolName": ""}], ["role='x"]])
def test_a_value_without_messages_gives_none(value):
    assert not read_payload(value, "user")


@given(ANYTHING | ANYTHING.map(json.dumps) | st.text(alphabet="role='{}[]\\\"(), ", max_size=40))
def test_any_value_is_read_without_a_crash(value):
    read_payload(value, "user")
