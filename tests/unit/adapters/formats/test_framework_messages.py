"""Messages in the formats of frameworks and providers: what is read of each, and how they are distinguished."""

from __future__ import annotations

import pytest
from damage import ANYTHING, damage_document, nest_lists
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.formats.anthropic import reader as anthropic
from evalgate.adapters.formats.langchain import reader as langchain
from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.openai_responses import reader as openai_responses
from evalgate.adapters.formats.pydantic_ai import reader as pydantic_ai
from evalgate.adapters.formats.vercel import reader as vercel
from evalgate.errors import TraceError

USER = {"role": "user", "content": "hi"}

ANTHROPIC = [
    USER,
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "get_order", "input": {"id": 42}},
            {"type": "tool_use", "id": "t2", "name": "get_order", "input": {"id": 43}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "sent"}]},
            {"type": "tool_result", "tool_use_id": "t2", "content": "gone", "is_error": True},
            {"type": "text", "text": "go on"},
        ],
    },
    {"role": "assistant", "content": "Done."},
]
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 5},
}

ITEMS = [
    USER,
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "c1", "id": "f1", "name": "get_order", "arguments": '{"id": 42}'},
    {"type": "function_call", "call_id": "c2", "id": "f2", "name": "get_order", "arguments": "{broken"},
    {"type": "function_call_output", "call_id": "c1", "output": "sent"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "gone"}]},
    {
        "type": "web_search_call",
        "id": "w1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    },
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]
RESPONSE = {
    "object": "response",
    "id": "resp_1",
    "model": "gpt-x",
    "status": "completed",
    "created_at": 1000,
    "completed_at": 1002.5,
    "instructions": "Be kind.",
    "input": "hi",
    "output": ITEMS[-1:],
    "usage": {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 15,
    },
}

LANGCHAIN = [
    {"type": "system", "data": {"content": "Be kind."}},
    {"type": "human", "data": {"content": "hi"}},
    {
        "type": "ai",
        "data": {
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "get_order"},
            ],
            "tool_calls": [{"name": "get_order", "args": {"id": 42}, "id": "t1"}],
            "invalid_tool_calls": [{"name": "get_order", "args": "{broken", "id": "t2", "error": "no JSON"}],
            "usage_metadata": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
            "response_metadata": {
                "model_name": "gpt-x",
                "finish_reason": "tool_calls",
                "model_provider": "openai",
            },
            "id": "run-1",
        },
    },
    {"type": "tool", "data": {"content": "sent", "name": "get_order", "tool_call_id": "t1"}},
    {"type": "tool", "data": {"content": "gone", "tool_call_id": "t2", "status": "error"}},
    {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": "Done."}},
]

PYDANTIC = [
    {
        "kind": "request",
        "instructions": "Be kind.",
        "parts": [
            {"part_kind": "system-prompt", "content": "Be brief."},
            {
                "part_kind": "user-prompt",
                "content": ["see", {"kind": "image-url", "url": "x"}],
                "timestamp": "2026-01-01T00:00:00Z",
            },
        ],
    },
    {
        "kind": "response",
        "parts": [
            {"part_kind": "thinking", "content": "hm"},
            {"part_kind": "tool-call", "tool_name": "get_order", "args": '{"id": 42}', "tool_call_id": "t1"},
            {"part_kind": "tool-call", "tool_name": "get_order", "args": {"id": "x"}, "tool_call_id": "t2"},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 4, "details": {}},
        "model_name": "gpt-x",
        "provider_name": "openai",
        "provider_response_id": "r1",
        "finish_reason": "tool_call",
        "timestamp": "2026-01-01T00:00:01Z",
    },
    {
        "kind": "request",
        "instructions": "Be kind.",
        "timestamp": "2026-01-01T00:00:02Z",
        "parts": [
            {
                "part_kind": "tool-return",
                "tool_name": "get_order",
                "content": {"state": "sent"},
                "tool_call_id": "t1",
            },
            {
                "part_kind": "retry-prompt",
                "tool_name": "get_order",
                "content": [{"type": "int_parsing", "loc": ["id"]}],
                "tool_call_id": "t2",
            },
        ],
    },
    {
        "kind": "response",
        "parts": [{"part_kind": "text", "content": "Done."}],
        "usage": {"input_tokens": 20, "output_tokens": 6, "details": {}},
        "model_name": "gpt-x",
        "timestamp": "2026-01-01T00:00:03Z",
    },
]

STEPS = {
    "prompt": "hi",
    "text": "Done.",
    "steps": [
        {
            "text": "I look.",
            "toolCalls": [
                {"type": "tool-call", "toolCallId": "t1", "toolName": "getOrder", "input": {"id": 42}},
                {"type": "tool-call", "toolCallId": "t2", "toolName": "getOrder", "args": {"id": 43}},
            ],
            "toolResults": [{"toolCallId": "t1", "toolName": "getOrder", "output": {"state": "sent"}}],
            "finishReason": "tool-calls",
            "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15, "cachedInputTokens": 4},
            "response": {"id": "r1", "modelId": "gpt-x", "timestamp": "2026-01-01T00:00:00.000Z"},
        },
        {
            "content": [{"type": "text", "text": "Done."}],
            "finishReason": "stop",
            "usage": {"promptTokens": 20, "completionTokens": 6},
        },
    ],
}
UI = [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
    {
        "id": "m2",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "hm"},
            {
                "type": "tool-getOrder",
                "toolCallId": "t1",
                "state": "output-available",
                "input": {"id": 42},
                "output": 1,
            },
            {
                "type": "tool-getOrder",
                "toolCallId": "t2",
                "state": "output-error",
                "input": {},
                "errorText": "gone",
            },
            {
                "type": "dynamic-tool",
                "toolName": "find",
                "toolCallId": "t3",
                "state": "input-available",
                "input": {},
            },
            {"type": "step-start"},
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"},
            {"type": "text", "text": "Done."},
        ],
    },
]
MODEL_MESSAGES = [
    USER,
    {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "t1", "toolName": "getOrder", "input": {"id": 42}}],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "t1",
                "toolName": "getOrder",
                "output": {"type": "error-text", "value": "gone"},
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]

RECORDINGS = {
    "anthropic": [ANTHROPIC, {"messages": ANTHROPIC}, {"system": "x", "messages": [USER]}, ANSWER],
    "openai-responses": [
        ITEMS,
        {"input": ITEMS},
        {"items": ITEMS},
        RESPONSE,
        {"response": RESPONSE, "input": ITEMS},
    ],
    "langchain": [LANGCHAIN, {"messages": LANGCHAIN}],
    "pydantic-ai": [PYDANTIC, {"messages": PYDANTIC}, {"all_messages": PYDANTIC}],
    "vercel": [STEPS, UI, {"id": "c", "messages": UI}, MODEL_MESSAGES],
    "openai-chat": [[USER, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}]],
}
READERS = {
    "anthropic": anthropic,
    "openai-responses": openai_responses,
    "langchain": langchain,
    "pydantic-ai": pydantic_ai,
    "vercel": vercel,
}
FIXTURES = [(READERS[name], document) for name in READERS for document in RECORDINGS[name]]


def pairs():
    return [(name, document) for name, documents in RECORDINGS.items() for document in documents]


def roles(trace):
    return [message["role"] for message in trace.messages]


def calls(trace, *keys):
    return [tuple(call[key] for key in keys) for call in trace.tool_calls]


@pytest.mark.parametrize(("name", "document"), pairs())
def test_each_document_is_claimed_by_its_format_only(name, document):
    assert detect.find_claiming_format(document).name == name
    assert detect.find_claiming_format([document] if isinstance(document, dict) else document).name == name


@pytest.mark.parametrize(("reader", "document"), FIXTURES)
def test_each_of_several_traces_in_a_document_is_read(reader, document):
    assert reader.READER.split(document) == [document]
    assert reader.READER.split([document, document]) == [document, document]


def test_tool_messages_in_the_chat_shape_are_chat():
    call = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}
    chat = [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]
    assert detect.find_claiming_format(chat).name == "openai-chat"


def test_anthropic_results_in_a_users_message_are_the_tools():
    trace = anthropic.build(ANTHROPIC)
    assert roles(trace) == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert calls(trace, "step", "status", "arguments", "result") == [
        (1, "ok", {"id": 42}, "sent"),
        (1, "error", {"id": 43}, "gone"),
    ]
    assert (trace.messages[1]["content"], trace.messages[1]["reasoning"]) == ("I look.", "hm")
    assert (trace.turn_count, trace.response["content"], trace.provider) == (2, "Done.", "anthropic")


def test_anthropic_input_counts_the_cache():
    trace = anthropic.build({"system": [{"type": "text", "text": "Be kind."}], "messages": [USER], "response": ANSWER})
    assert (trace.usage["input_tokens"], trace.usage["total_tokens"]) == (110, 115)
    assert (trace.model, trace.finish_reason, trace.system_instructions) == ("claude-x", "stop", "Be kind.")
    assert (trace.trace_id, trace.response["content"]) == ("msg_1", "Done.")


def test_anthropic_tools_that_ran_at_the_provider_have_their_answer():
    blocks = [
        {"type": "text", "text": "I search."},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": [{"type": "web_search_result", "url": "u", "encrypted_content": "x" * 99}],
        },
        {"type": "text", "text": "Found."},
    ]
    trace = anthropic.build([USER, {"role": "assistant", "content": blocks}])
    assert calls(trace, "name", "status", "result") == [
        ("web_search", "ok", [{"type": "web_search_result", "url": "u"}])
    ]
    assert [message["content"] for message in trace.messages][1::2] == ["I search.", "Found."]


def test_pictures_are_reduced_to_their_kind():
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [picture]}
    trace = anthropic.build([{"role": "user", "content": [picture, {"type": "text", "text": "see"}]}, USER])
    assert trace.messages[0]["parts"] == [{"type": "image"}, {"type": "text", "text": "see"}]
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}
    trace = anthropic.build([asked, {"role": "user", "content": [result]}])
    assert trace.tool_calls[0]["result"] == [{"type": "image"}]


def test_tool_definitions_are_read_in_each_spelling():
    tools = [
        {"name": "a", "input_schema": {"type": "object"}},
        {"type": "function", "function": {"name": "b"}},
    ]
    trace = anthropic.build({"messages": ANTHROPIC, "tools": tools})
    assert trace.tool_definitions == [{"name": "a", "parameters": {"type": "object"}}, {"name": "b"}]


def test_items_of_one_response_are_one_message():
    trace = openai_responses.build(ITEMS)
    assert roles(trace) == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert calls(trace, "step", "name", "status", "arguments") == [
        (1, "get_order", "ok", {"id": 42}),
        (1, "get_order", "ok", None),
        (2, "web_search", "ok", {"type": "search", "query": "q"}),
    ]
    assert trace.tool_calls[1]["arguments_raw"] == "{broken"
    assert trace.tool_calls[1]["arguments_error"]
    assert (trace.messages[1]["reasoning"], trace.response["content"]) == ("hm", "Done.")


def test_a_raw_response_has_its_usage():
    trace = openai_responses.build(RESPONSE)
    assert roles(trace) == ["system", "user", "assistant"]
    assert (trace.usage["total_tokens"], trace.usage["cache_read_input_tokens"]) == (15, 4)
    assert (trace.trace_id, trace.model, trace.finish_reason) == ("resp_1", "gpt-x", "stop")
    assert trace.latency == {"total_ms": 2500.0, "source": "timestamps"}


def test_a_response_that_was_cut_is_incomplete():
    cut = RESPONSE | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    trace = openai_responses.build(cut)
    assert (trace.status, trace.finish_reason) == ("incomplete", "length")


def test_a_failed_response_is_an_error():
    failed = RESPONSE | {"status": "failed", "error": {"code": "server_error", "message": "no"}}
    assert openai_responses.build(failed).error == {"type": "server_error", "message": "no"}


def test_usage_next_to_a_list_is_its_total():
    trace = openai_responses.build({"input": ITEMS, "usage": {"input_tokens": 7, "output_tokens": 1}})
    assert (trace.usage["total_tokens"], trace.llm_calls) == (8, [])


def test_zero_tokens_are_unknown():
    trace = openai_responses.build({"input": ITEMS, "usage": {"input_tokens": 0, "output_tokens": 0}})
    assert trace.usage["total_tokens"] is None


def test_a_final_output_that_is_not_text_is_the_response():
    trace = openai_responses.build({"input": ITEMS, "final_output": {"b": 1, "a": 2}})
    assert trace.response["content"] == '{"a":2,"b":1}'
    assert openai_responses.build({"input": ITEMS, "final_output": "Done."}).response["message_index"] == 6


@pytest.mark.parametrize(
    ("item", "name", "status"),
    [
        ({"type": "mcp_call", "id": "m", "name": "t", "arguments": "{}", "output": "x"}, "t", "ok"),
        ({"type": "mcp_call", "id": "m", "name": "t", "arguments": "{}", "error": "no"}, "t", "error"),
        (
            {"type": "code_interpreter_call", "id": "m", "status": "failed", "code": "1"},
            "code_interpreter",
            "error",
        ),
        ({"type": "custom_tool_call", "call_id": "m", "name": "t", "input": "free text"}, "t", "missing"),
        (
            {"type": "local_shell_call", "call_id": "m", "status": "completed", "action": {}},
            "local_shell",
            "missing",
        ),
    ],
)
def test_calls_of_every_kind_are_tool_calls(item, name, status):
    assert calls(openai_responses.build([item]), "name", "status") == [(name, status)]


def test_langchain_calls_inside_and_outside_of_the_content_count_once():
    trace = langchain.build(LANGCHAIN)
    assert calls(trace, "id", "name", "status", "result_text") == [
        ("t1", "get_order", "ok", "sent"),
        ("t2", "get_order", "error", "gone"),
    ]
    assert [call["arguments"] for call in trace.tool_calls] == [{"id": 42}, None]
    assert trace.tool_calls[1]["arguments_raw"] == "{broken"
    assert roles(trace) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert (trace.llm_calls[0]["usage"]["total_tokens"], trace.model, trace.provider) == (
        15,
        "gpt-x",
        "openai",
    )
    assert (trace.llm_calls[0]["response_id"], trace.llm_calls[0]["finish_reason"]) == ("run-1", "tool_calls")


def test_plain_langchain_messages_are_read():
    call = {"name": "get_order", "args": {"id": 42}, "id": "t1"}
    trace = langchain.build([USER, {"role": "assistant", "content": "", "tool_calls": [call]}])
    assert calls(trace, "name", "arguments", "status") == [("get_order", {"id": 42}, "missing")]
    assert [warning["code"] for warning in trace.warnings] == ["results_missing"]


def test_a_retry_prompt_is_a_tools_error():
    trace = pydantic_ai.build(PYDANTIC)
    assert calls(trace, "step", "status", "arguments", "result") == [
        (1, "ok", {"id": 42}, {"state": "sent"}),
        (1, "error", {"id": "x"}, '[{"loc":["id"],"type":"int_parsing"}]'),
    ]
    assert roles(trace) == ["system", "system", "user", "assistant", "tool", "tool", "assistant"]
    assert trace.messages[2]["parts"] == [{"type": "text", "text": "see"}, {"type": "image-url"}]


def test_pydantic_ai_records_tokens_times_and_models():
    trace = pydantic_ai.build(PYDANTIC)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (30, 11)
    assert trace.latency == {"total_ms": 3000.0, "source": "timestamps"}
    assert (trace.model, trace.llm_calls[0]["response_id"]) == ("gpt-x", "r1")


def test_a_retry_prompt_without_tool_is_a_message_to_the_model():
    retry = {"kind": "request", "parts": [{"part_kind": "retry-prompt", "content": "Say it shorter."}]}
    assert pydantic_ai.build([retry]).messages[0]["content"] == "Say it shorter."


def test_arguments_of_the_output_tool_are_the_response():
    def returned(known, words):
        return {
            "part_kind": "tool-return",
            "tool_name": "final_result",
            "content": words,
            "tool_call_id": known,
        }

    asked = [
        {
            "part_kind": "tool-call",
            "tool_name": "final_result",
            "args": '{"city": "x"}',
            "tool_call_id": "f1",
        },
        {
            "part_kind": "tool-call",
            "tool_name": "final_result",
            "args": '{"city": "y"}',
            "tool_call_id": "f2",
        },
    ]
    returns = [returned("f1", "Final result processed."), returned("f2", "Output tool not used.")]
    trace = pydantic_ai.build([*PYDANTIC, {"kind": "response", "parts": asked}, {"kind": "request", "parts": returns}])
    assert (trace.response["content"], trace.response["message_index"]) == ('{"city":"x"}', 7)


def test_unmetered_history_is_not_a_model_call():
    history = {
        "kind": "response",
        "parts": [{"part_kind": "text", "content": "x"}],
        "usage": {"input_tokens": 0},
    }
    trace = pydantic_ai.build([history, *PYDANTIC])
    assert (len(trace.llm_calls), trace.usage["input_tokens"]) == (2, 30)


@pytest.mark.parametrize(
    ("approval", "why"),
    [
        ({"id": "a1", "approved": False, "reason": "against the policy"}, "against the policy"),
        (None, "the use of the tool was denied"),
    ],
)
def test_a_vercel_tool_that_was_denied_says_why(approval, why):
    part = {
        "type": "tool-pay",
        "toolCallId": "t1",
        "state": "output-denied",
        "input": {},
        "approval": approval,
    }
    trace = vercel.build([UI[0], {"role": "assistant", "parts": [part]}])
    assert calls(trace, "status", "result_text") == [("error", why)]


def test_vercel_input_that_did_not_fit_the_tool_is_the_requested_input():
    part = {
        "type": "tool-pay",
        "toolCallId": "t1",
        "state": "output-error",
        "rawInput": '{"cities": "Rome"}',
        "errorText": "Invalid input",
    }
    trace = vercel.build([UI[0], {"role": "assistant", "parts": [part]}])
    assert calls(trace, "status", "arguments") == [("error", {"cities": "Rome"})]


def test_vercel_steps_are_steps():
    trace = vercel.build(STEPS)
    assert calls(trace, "step", "name", "status", "result") == [
        (1, "getOrder", "ok", {"state": "sent"}),
        (1, "getOrder", "missing", None),
    ]
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (30, 11)
    assert (trace.response["content"], trace.finish_reason) == ("Done.", "stop")
    assert roles(trace) == ["user", "assistant", "tool", "assistant"]


def test_adjacent_tool_parts_were_called_together():
    trace = vercel.build(UI)
    assert calls(trace, "step", "name", "status", "result") == [
        (1, "getOrder", "ok", 1),
        (1, "getOrder", "error", "gone"),
        (1, "find", "missing", None),
    ]
    assert roles(trace) == ["user", "assistant", "tool", "tool", "assistant"]
    assert trace.messages[-1]["parts"] == [{"type": "file"}, {"type": "text", "text": "Done."}]
    assert trace.messages[1]["reasoning"] == "hm"


def test_older_messages_of_a_user_interface_are_read():
    tool = {
        "state": "result",
        "toolCallId": "t1",
        "toolName": "getOrder",
        "args": {"id": 1},
        "result": "sent",
    }
    old = [{"role": "assistant", "content": "Done.", "toolInvocations": [tool]}]
    part = [{"role": "assistant", "parts": [{"type": "tool-invocation", "toolInvocation": tool}]}]
    for messages in (old, part):
        assert detect.find_claiming_format(messages).name == "vercel"
        assert calls(vercel.build(messages), "name", "arguments", "result") == [("getOrder", {"id": 1}, "sent")]
    assert vercel.build(old).response["content"] == "Done."


def test_an_error_as_output_is_a_tools_error():
    assert calls(vercel.build(MODEL_MESSAGES), "status", "result") == [("error", "gone")]


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_ids_next_to_the_messages_name_scenario_and_trial(reader):
    name = next(known for known, module in READERS.items() if module is reader)
    messages = next(one for one in RECORDINGS[name] if isinstance(one, list))
    record = {"messages": messages, "metadata": {"evalgate.scenario.id": "refund", "evalgate.trial": 2}}
    trace = reader.build(record)
    assert (trace.scenario_id, trace.trial) == ("refund", 2)
    assert reader.READER.identify(record) == ("refund", 2)
    assert reader.READER.identify(messages) == (None, None)
    trace = reader.build({"messages": messages, "scenario_id": "x", "cost_usd": 0.5, "latency_ms": 7})
    assert (trace.scenario_id, trace.cost["usd"], trace.latency["total_ms"]) == ("x", 0.5, 7.0)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("record", [[], {}, {"messages": []}, {"messages": "x"}, 1, [1], {"messages": [{}]}])
def test_a_document_without_messages_is_refused(reader, record):
    with pytest.raises(TraceError):
        reader.build(record)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_deep_input_is_refused(reader):
    with pytest.raises(TraceError, match="64 levels"):
        reader.build([nest_lists(70)])


@given(st.sampled_from(FIXTURES).flatmap(lambda one: st.tuples(st.just(one[0]), damage_document(one[1]))))
def test_damaged_documents_are_a_trace_or_a_reason(pair):
    reader, document = pair
    detect.find_claiming_format(document)
    for record in reader.READER.split(document):
        reader.READER.identify(record)
        try:
            reader.build(record)
        except TraceError as error:
            assert len(str(error)) < 300


@given(ANYTHING)
def test_any_json_is_claimed_or_not(value):
    for document in (
        value,
        [value],
        {"messages": value},
        {"messages": [value]},
        {"steps": [value]},
        {"output": value},
    ):
        detect.find_claiming_format(document)
