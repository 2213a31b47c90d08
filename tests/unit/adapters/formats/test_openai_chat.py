from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    "asked",
    [
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "assistant", "function_call": CALL["function"]},
    ],
)
def test_a_message_without_a_content_keeps_its_calls(asked):
    assert [call["name"] for call in openai_chat.build([asked]).tool_calls] == ["get_order"]


def test_a_message_with_only_a_refusal_has_its_text():
    trace = openai_chat.build([{"role": "assistant", "refusal": "I can't do that."}])
    assert trace.response["content"] == "I can't do that."


def test_a_list_of_messages_is_a_trace():
    trace = openai_chat.build(MESSAGES)
    call = trace.tool_calls[0]
    assert [message["role"] for message in trace.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert (call["name"], call["arguments"], call["arguments_raw"], call["result_text"]) == (
        "get_order",
        {"id": 42},
        '{"id": 42}',
        '{"ok": true}',
    )
    assert trace.response["content"] == "Done."
    assert trace.system_instructions == "Be kind."
    assert trace.cost["usd"] is trace.latency["total_ms"] is trace.usage["total_tokens"] is trace.model is None


def test_of_a_picture_only_the_kind_is_kept():
    message = openai_chat.build(MESSAGES).messages[1]
    assert message["content"] == "See"
    assert message["parts"] == [{"type": "text", "text": "See"}, {"type": "image_url"}]


@pytest.mark.parametrize(
    ("arguments", "value", "raw", "is_error"),
    [
        ({"id": 1}, {"id": 1}, None, False),
        ('{"id":1}', {"id": 1}, '{"id":1}', False),
        ("", {}, "", False),
        (None, None, None, False),
        ("{'id': 1}", None, "{'id': 1}", True),
        ('{"id":', None, '{"id":', True),
    ],
)
def test_arguments_in_every_spelling(arguments, value, raw, is_error):
    call = openai_chat.build(asking(function={"name": "a", "arguments": arguments})).tool_calls[0]
    assert (call["arguments"], call["arguments_raw"], call["arguments_error"] is not None) == (
        value,
        raw,
        is_error,
    )


def test_the_legacy_function_call_is_answered_by_its_name():
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "a", "arguments": "{}"}},
        {"role": "function", "name": "a", "content": "A"},
    ]
    assert openai_chat.build(messages).tool_calls[0]["result_text"] == "A"


def test_name_and_arguments_may_be_outside_of_a_function_object():
    assert openai_chat.build(asking(name="a", arguments={"x": 1})).tool_calls[0]["arguments"] == {"x": 1}


def test_a_custom_tool_keeps_its_input():
    call = openai_chat.build(asking(custom={"name": "shell", "input": "ls -l"})).tool_calls[0]
    assert (call["name"], call["arguments_raw"]) == ("shell", "ls -l")


def test_usage_next_to_the_messages():
    trace = openai_chat.build(
        {
            "messages": MESSAGES,
            "id": "x",
            "model": "gpt-4o",
            "scenario_id": 7,
            "trial": 1,
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            "cost": 0.5,
            "latency_seconds": 2,
            "scores": {"reward": 1},
            "tools": [{"type": "function", "function": {"name": "a", "parameters": {}}}],
        }
    )
    usage = trace.usage
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (100, 20, 120)
    assert (usage["cache_read_input_tokens"], usage["reasoning_output_tokens"]) == (60, 5)
    assert (trace.trace_id, trace.model, trace.scenario_id, trace.trial) == ("x", "gpt-4o", "7", 1)
    assert (trace.cost["usd"], trace.latency["total_ms"]) == (0.5, 2000)
    assert trace.evaluations[0]["score_value"] == 1
    assert trace.tool_definitions == [{"name": "a", "parameters": {}}]


def test_a_raw_completion_is_the_answer_to_the_messages_before_it():
    trace = openai_chat.build(
        {
            "messages": MESSAGES[:2],
            "choices": [{"index": 0, "finish_reason": "STOP", "message": {"role": "assistant", "content": "Hi"}}],
        }
    )
    assert trace.response == {"content": "Hi", "finish_reason": "stop", "message_index": 2}
    assert trace.finish_reason == "stop"


def test_a_refusal_is_the_text_of_the_assistant():
    messages = [{"role": "assistant", "content": None, "refusal": "I can't."}]
    assert openai_chat.build(messages).response["content"] == "I can't."


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


def test_schemas_of_tools_and_evalgate_documents_are_not_claimed():
    assert not OPENAI_CHAT.claims({"items": [], "properties": {"messages": {}}})
    assert not OPENAI_CHAT.claims({"schema": "evalgate.trace/1", "messages": MESSAGES})
    assert not OPENAI_CHAT.claims([{"role": "admin", "content": ""}])
    assert not OPENAI_CHAT.claims([])
    assert OPENAI_CHAT.claims({"messages": []})
    assert OPENAI_CHAT.claims([MESSAGES, MESSAGES])


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "id", "name", "type", "text", "function", "arguments"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=40)
@given(
    st.integers(0, 4),
    st.sampled_from(["role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal"]),
    JUNK,
)
def test_any_content_of_a_message_gives_a_trace_or_a_reason(index, field, junk):
    messages = copy.deepcopy(MESSAGES)
    messages[index][field] = junk
    try:
        assert openai_chat.build(messages).messages
    except TraceError as error:
        assert str(error).startswith("messages[")


@settings(max_examples=40)
@given(
    st.sampled_from(
        [
            "messages",
            "choices",
            "usage",
            "cost",
            "cost_usd",
            "latency_ms",
            "scores",
            "tools",
            "metadata",
            "model",
            "trial",
            "scenario_id",
            "finish_reason",
        ]
    ),
    JUNK,
)
def test_any_fields_besides_the_messages_give_a_trace_or_a_reason(field, junk):
    record = {"messages": MESSAGES, field: junk}
    OPENAI_CHAT.claims(record)
    openai_chat.READER.identify(record)
    try:
        openai_chat.build(record)
    except TraceError as error:
        assert "\n" not in str(error)
