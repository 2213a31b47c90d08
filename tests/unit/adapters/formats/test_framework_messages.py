"""Messages in the formats of frameworks and providers: what is read of each, and how they are distinguished."""

from __future__ import annotations

import pytest

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


def test_pictures_are_reduced_to_their_kind():
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [picture]}
    trace = anthropic.build([{"role": "user", "content": [picture, {"type": "text", "text": "see"}]}, USER])
    assert trace.messages[0]["parts"] == [{"type": "image"}, {"type": "text", "text": "see"}]
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}
    trace = anthropic.build([asked, {"role": "user", "content": [result]}])
    assert trace.tool_calls[0]["result"] == [{"type": "image"}]


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


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("record", [[], {}, {"messages": []}, {"messages": "x"}, 1, [1], {"messages": [{}]}])
def test_a_document_without_messages_is_refused(reader, record):
    with pytest.raises(TraceError):
        reader.build(record)
