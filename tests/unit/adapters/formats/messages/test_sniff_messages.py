from __future__ import annotations

import pytest

from evalgate.adapters.formats.core.builder.conversation import (
    ToolRequest,
    ToolResult,
    conversation_from_messages,
)
from evalgate.adapters.formats.messages.sniff_messages import sniff_messages

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = ToolRequest("c1", "f", "{}")


def summarize_messages(value):
    """Role, text, names of calls and contents of answers of each message."""
    messages = sniff_messages(value)
    return messages and [
        (one.role, one.content, [call.name for call in one.calls], [answer.content for answer in one.answers])
        for one in messages
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": "{}"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": "{}"}],
        },
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "f", "input": "{}"}}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "f", "args": "{}"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "ai", "data": {"content": "", "tool_calls": [{"id": "c1", "name": "f", "args": "{}"}]}},
        {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [CALL]}},
        {
            "id": ["x", "AIMessageChunk"],
            "kwargs": {"content": "", "tool_calls": [{"id": "c1", "name": "f", "args": "{}"}]},
        },
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f", "args": "{}"}}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool-f", "toolCallId": "c1", "input": "{}", "state": "input-available"}],
        },
        {"toolCallId": "c1", "toolName": "f", "input": "{}"},
        {
            "kind": "response",
            "parts": [{"part_kind": "tool-call", "tool_name": "f", "args": "{}", "tool_call_id": "c1"}],
        },
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": "{}"}]},
    ],
)
def test_a_call_in_any_shape_is_the_same_call(message):
    for value in (message, [message]):
        (found,) = sniff_messages(value)
        assert (found.role, found.calls) == ("assistant", [ASKED])


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "c1", "content": "no", "status": "error"},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "no"}], "status": "error"}}],
        },
        {"role": "tool", "content": [{"type": "tool-error", "toolCallId": "c1", "error": "no"}]},
        {"type": "function_call_output", "call_id": "c1", "output": "no", "status": "failed"},
        {"type": "tool", "data": {"content": "no", "tool_call_id": "c1", "status": "error"}},
        {"toolCallId": "c1", "toolName": "f", "type": "tool-error", "error": "no"},
    ],
)
def test_a_failed_answer_in_any_shape_is_the_same_answer(message):
    (found,) = sniff_messages([message])
    assert found.answers in (
        [ToolResult("c1", None, "no", is_error=True)],
        [ToolResult("c1", "f", "no", is_error=True)],
    )


def test_an_error_in_a_function_response_is_a_failed_answer():
    response = {"name": "f", "response": {"error": "no"}}
    (found,) = sniff_messages([{"role": "user", "parts": [{"text": None, "function_response": response}]}])
    assert found.answers == [ToolResult(None, "f", {"error": "no"}, is_error=True)]


def test_code_that_ran_within_a_content_is_a_call_and_its_answer():
    parts = [
        {"text": "hm", "thought": True},
        {"executableCode": {"code": "1+1", "language": "PYTHON"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"text": "Two."},
    ]
    assert summarize_messages({"role": "model", "parts": parts}) == [
        ("assistant", None, ["code_execution"], []),
        ("tool", None, [], ["2"]),
        ("assistant", "Two.", [], []),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [USER]},
        {"messages": [[USER]]},
        [[USER]],
        {"input": [USER]},
        {"output": [USER]},
        {"message": USER},
        {"choices": [{"message": USER}]},
        {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
        {"candidates": [{"content": {"role": "user", "parts": [{"text": "hi"}]}}]},
        {"content": {"role": "user", "parts": [{"text": "hi"}]}},
        {"generations": [[{"message": {"type": "human", "content": "hi"}}]]},
    ],
)
def test_messages_are_found_within_requests_and_answers(value):
    assert summarize_messages(value) == [("user", "hi", [], [])]


@pytest.mark.parametrize(
    "request_",
    [
        {"system": "Be kind.", "messages": [USER]},
        {"system": [{"type": "text", "text": "Be kind."}], "messages": [USER]},
        {"instructions": "Be kind.", "input": [USER]},
        {
            "config": {"system_instruction": "Be kind."},
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        },
        {"systemInstruction": {"parts": [{"text": "Be kind."}]}, "contents": [{"parts": [{"text": "hi"}]}]},
    ],
)
def test_a_requests_instructions_come_first(request_):
    assert summarize_messages(request_) == [("system", "Be kind.", [], []), ("user", "hi", [], [])]


def test_an_answers_instructions_are_the_requests():
    assert summarize_messages({"instructions": "x", "output": [{"role": "assistant", "content": "y"}]}) == [
        ("assistant", "y", [], [])
    ]


def test_the_finish_reason_of_a_model_is_read_with_its_message():
    (found,) = sniff_messages(
        {"choices": [{"finish_reason": "length", "message": {"role": "assistant", "content": "x"}}]}
    )
    assert found.finish_reason == "length"


def test_a_message_with_a_tools_name_as_role_is_its_answer():
    asked = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    assert summarize_messages([asked, {"role": "f", "content": "x"}])[1] == ("tool", None, [], ["x"])
    assert summarize_messages([asked, {"role": "g", "content": "x"}]) is None


def test_shapes_may_be_mixed_in_one_list():
    output = {"type": "function_call_output", "call_id": "c1", "output": "x"}
    values = [
        USER,
        {"type": "function_call", "call_id": "c1", "name": "f"},
        output,
        {"type": "ai", "content": "y"},
    ]
    assert [one[0] for one in summarize_messages(values)] == ["user", "assistant", "tool", "assistant"]


def test_a_function_named_by_two_messages_is_called_by_both():
    """Calls of shapes with a separate list are not taken for one response across messages."""
    asked = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert [one[2] for one in summarize_messages([asked, asked])] == [["f"], ["f"]]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "hi",
        1,
        [],
        {},
        [1],
        ["hi"],
        {"messages": []},
        {"role": "critic", "content": "x"},
        {"query": "x"},
        [USER, 1],
    ],
)
def test_a_value_that_is_not_a_message_gives_none(value):
    assert sniff_messages(value) is None


def asked_by(blocks, listed):
    (found,) = sniff_messages({"role": "assistant", "content": blocks, "tool_calls": listed})
    return found.calls


def block(call_id, name, given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def entry(call_id, name, given):
    return {"id": call_id, "function": {"name": name, "arguments": given}}


def test_calls_of_one_list_that_share_an_id_are_all_read():
    listed = [entry("c", "look", "{}"), entry("c", "delete", "{}"), entry("c", "look", '{"a": 1}')]
    assert [(call.name, call.arguments) for call in asked_by([], listed)] == [
        ("look", "{}"),
        ("delete", "{}"),
        ("look", '{"a": 1}'),
    ]


def test_calls_without_an_id_of_one_list_are_all_read():
    assert len(asked_by(None, [entry(None, "look", "{}"), entry(None, "look", "{}")])) == 2


@pytest.mark.parametrize("ids", [("c", "c"), (None, "c"), ("c", None), (None, None)])
def test_a_call_of_both_lists_is_read_once_however_its_arguments_are_written(ids):
    of_block, of_list = ids
    assert len(asked_by([block(of_block, "look", {"a": 1})], [entry(of_list, "look", '{"a": 1.0}')])) == 1


@pytest.mark.parametrize("listed", [entry("c", "delete", "{}"), entry(None, "delete", None), entry("c", "f", "{}")])
def test_another_call_of_the_second_list_is_also_read(listed):
    calls = asked_by([block("c", "f", {"a": 1})], [listed])
    assert [call.name for call in calls] == ["f", listed["function"]["name"]]


@pytest.mark.parametrize("begun", [None, {}, "", '{"a'])
def test_arguments_that_a_block_lacks_are_those_of_the_second_list(begun):
    (call,) = asked_by([block("c", "f", begun)], [entry("c", "f", '{"a": 1}')])
    assert call.arguments == '{"a": 1}'


def test_a_request_to_gemini_may_be_plain_text():
    [system, user] = sniff_messages({"model": "m", "contents": "hi", "config": {"system_instruction": "Be brief."}})
    assert [(system.role, system.content), (user.role, user.content)] == [
        ("system", "Be brief."),
        ("user", "hi"),
    ]


def test_parts_of_a_type_that_only_one_framework_knows_do_not_hide_the_others():
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}}
    strange = {"type": "Some.Framework.Thought", "content": {"text": "", "data": "c2VjcmV0"}}
    [one] = sniff_messages([{"role": "assistant", "parts": [call, strange]}])
    assert [asked.name for asked in one.calls] == ["f"]
    assert one.parts == [{"type": "Some.Framework.Thought"}]


def test_an_id_of_several_parts_joins_a_call_with_its_answer():
    ids = ["run_1", "call_1"]
    call = {"type": "tool_call", "id": ids, "name": "f", "arguments": {}}
    answer = {"type": "tool_call_response", "id": ids, "response": "done"}
    messages = sniff_messages([{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [answer]}])
    [found] = conversation_from_messages(messages).calls
    assert (found["id"], found["result"]) == ('["run_1","call_1"]', "done")


def test_calls_that_langchain_stores_outside_of_the_message_are_its_calls():
    called = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [called]}}
    [one] = sniff_messages([message])
    assert [(asked.id, asked.name) for asked in one.calls] == [("c", "f")]
    [again] = sniff_messages([{**message, "tool_calls": [called]}])
    assert len(again.calls) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "new_use", "id": "c1", "name": "f", "input": "{}"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "x"},
                {"type": "tool_call", "id": "c0", "name": "g", "arguments": {}},
                {"type": "uri", "id": "c1", "name": "f", "arguments": "{}"},
            ],
        },
        {
            "kind": "response",
            "parts": [{"part_kind": "new-call", "tool_name": "f", "args": "{}", "tool_call_id": "c1"}],
        },
    ],
)
def test_a_part_of_an_unknown_kind_that_names_a_tool_and_its_arguments_is_a_call(message):
    (found,) = sniff_messages(message)
    assert found.calls[-1] == ASKED


def test_a_tool_call_in_a_request_is_not_a_message_of_the_user():
    part = {"part_kind": "tool-call", "tool_name": "f", "args": "{}", "tool_call_id": "c1"}
    assert sniff_messages({"kind": "request", "parts": [part]}) is None
