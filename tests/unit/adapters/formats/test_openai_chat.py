from __future__ import annotations

import pytest

from evalgate.adapters.formats.openai_chat import OPENAI_CHAT
from evalgate.adapters.formats.openai_chat import reader as openai_chat
from evalgate.errors import TraceError

CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 42}'}}
MESSAGES = [
    {"role": "developer", "content": "Be kind."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "See"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ],
    },
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"ok": true}'},
    {"role": "assistant", "content": "Done."},
]


def asking(**call):
    return [{"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", **call}]}]


def refusal(record):
    with pytest.raises(TraceError) as caught:
        openai_chat.build(record)
    return str(caught.value)


def test_a_message_with_only_a_refusal_has_its_text():
    trace = openai_chat.build([{"role": "assistant", "refusal": "I can't do that."}])
    assert trace.response["content"] == "I can't do that."


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "messages is missing or empty"),
        ({"messages": []}, "messages is missing or empty"),
        ({"messages": {}}, "messages is not a list"),
        ([{"role": "robot", "content": ""}], "messages[0].role is not one of system"),
        ([{"role": "user", "content": 5}], "messages[0].content is neither text nor a list of parts"),
        (
            [{"role": "user", "content": [{"type": "text", "text": 5}]}],
            "messages[0].content[0].text is not text",
        ),
        (asking(function={"name": 5}), "messages[0].tool_calls[0].function.name is not text"),
        (asking(function="a"), "messages[0].tool_calls[0].function is not an object"),
        (asking(), "messages[0].tool_calls[0].name is missing"),
        (
            asking(function={"name": "a", "arguments": 5}),
            "messages[0].tool_calls[0].function.arguments is neither",
        ),
        ([{"role": "tool", "tool_call_id": 5, "content": ""}], "messages[0].tool_call_id is not text"),
        ({"choices": [{"message": None}]}, "choices[0].message.role is missing"),
        (
            {"messages": MESSAGES, "usage": {"prompt_tokens": True}},
            "usage.prompt_tokens is not a whole number",
        ),
        ({"messages": MESSAGES, "cost": "1"}, "cost is not a number"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(record, message):
    assert refusal(record).startswith(message)


def test_depth_is_bounded():
    deep: object = "x"
    for _ in range(100):
        deep = [deep]
    assert "levels deep" in refusal({"messages": MESSAGES, "metadata": {"a": deep}})
    assert "levels deep" in refusal({"messages": MESSAGES, "unknown": deep})
    assert "levels deep" in refusal([{**MESSAGES[-1], "unknown": deep}])


def test_schemas_of_tools_and_evalgate_documents_are_not_claimed():
    assert not OPENAI_CHAT.claims({"items": [], "properties": {"messages": {}}})
    assert not OPENAI_CHAT.claims({"schema": "evalgate.trace/1", "messages": MESSAGES})
    assert not OPENAI_CHAT.claims([{"role": "admin", "content": ""}])
    assert not OPENAI_CHAT.claims([])
    assert OPENAI_CHAT.claims({"messages": []})
    assert OPENAI_CHAT.claims([MESSAGES, MESSAGES])
