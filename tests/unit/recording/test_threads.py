"""Exchanges of one run become one conversation: continued, retried, compacted; sub-agents count and are not shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from recorded_cassettes import TRIAL, USER, answer, chat, exchange

from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.exchange import Exchange, ProviderAnswer, ProviderRequest, TrialId
from evalgate.features.record.models.run import ProcessRun

SYSTEM = {"role": "system", "content": "You help."}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def trace_of(*exchanges: Exchange) -> Any:
    return build_trace(exchanges, ProcessRun(TRIAL, "t"))


def texts(trace: Any) -> list[str]:
    return [message["content"] for message in trace.messages]


def test_a_call_that_repeats_the_conversation_continues_it():
    trace = trace_of(
        exchange(chat(SYSTEM, USER), answer("one"), 1.0),
        exchange(chat(SYSTEM, USER, assistant("one"), user("more")), answer("two"), 2.0),
    )
    assert texts(trace) == ["You help.", "Hi", "one", "more", "two"]
    assert [(call["turn"], call["step"]) for call in trace.llm_calls] == [(1, 1), (2, 2)]
    assert (trace.status, trace.gaps) == ("ok", {})


def test_calls_of_a_sub_agent_count_and_their_words_do_not():
    other = {"role": "system", "content": "You search."}
    trace = trace_of(
        exchange(chat(SYSTEM, USER), answer("one"), 1.0),
        exchange(chat(other, user("find")), answer("found"), 2.0),
        exchange(chat(SYSTEM, USER, assistant("one"), user("more")), answer("two"), 3.0),
    )
    assert texts(trace) == ["You help.", "Hi", "one", "more", "two"]
    assert [call["step"] for call in trace.llm_calls] == [1, 0, 2]


def test_a_failed_call_that_is_made_again_counts_once():
    failed = ProviderAnswer(500, "application/json", [(0.0, b'{"error": {"type": "server_error", "message": "x"}}')])
    trace = trace_of(exchange(chat(USER), failed, 1.0), exchange(chat(USER), answer("one"), 2.0))
    assert (len(trace.llm_calls), trace.status) == (1, "ok")
    assert [warning["code"] for warning in trace.warnings] == ["retried", "tokens_incomplete"][: len(trace.warnings)]


def test_a_shorter_conversation_with_the_same_instructions_continues_and_is_noted():
    trace = trace_of(
        exchange(chat(SYSTEM, USER), answer("one"), 1.0),
        exchange(chat(SYSTEM, USER, assistant("one"), user("a"), assistant("b"), user("c")), answer("two"), 2.0),
        exchange(chat(SYSTEM, user("summary: c")), answer("three"), 3.0),
    )
    assert texts(trace) == ["You help.", "summary: c", "three"]
    assert trace.gaps.keys() == {"messages"}
    assert len(trace.llm_calls) == 3


def test_parallel_calls_are_conversations_of_their_own():
    trace = trace_of(*(exchange(chat(SYSTEM, user(f"q{number}")), answer("a"), 1.0) for number in range(50)))
    assert texts(trace) == ["You help.", "q0", "a"]
    assert len(trace.llm_calls) == 50
    assert "compacted" not in [warning["code"] for warning in trace.warnings]


def test_an_answer_that_asks_for_a_tool_is_an_end_like_others():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"id": "x", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    asked = ProviderAnswer(200, "application/json", [(0.0, json.dumps(body).encode())])
    trace = trace_of(exchange(chat(USER), asked))
    assert (trace.status, trace.gaps) == ("ok", {})


def test_a_call_without_messages_is_a_model_call_with_a_gap():
    request = ProviderRequest("openai", "POST", "/embeddings", "application/json", b'{"input": "x"}')
    trace = build_trace([exchange(request)], ProcessRun(TrialId(), "t"))
    assert (trace.messages, len(trace.llm_calls)) == ([], 1)
    assert "messages" in trace.gaps


def test_a_request_that_can_not_be_read_is_a_gap():
    trace = trace_of(exchange(chat({"role": "robot", "content": "Hi"})))
    assert "messages" in trace.gaps


HI = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}


def beside_a_chat(method: str, path: str, body: str, status: int = 200):
    """The trace of a conversation, and of a request to another path before it."""
    request = ProviderRequest("openai", method, path, "application/json", b"{}")
    other = exchange(request, ProviderAnswer(status, "application/json", [(0.0, body.encode())]))
    said = ProviderAnswer(200, "application/json", [(0.0, json.dumps(HI).encode())])
    return trace_of(other, exchange(chat(USER), said))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/threads/t/runs", '{"status": "requires_action"}'),
        ("GET", "/v1/threads/t/runs/r", '{"status": "requires_action"}'),
        ("POST", "/v1/completions", '{"choices": [{"text": "delete_user"}]}'),
        ("POST", "/v1/messages/batches", '{"id": "b"}'),
        ("GET", "/v1/messages/batches/b/results", "{}"),
        ("POST", "/v1/realtime/client_secrets", '{"value": "x"}'),
        ("GET", "/v1/responses/resp_9", '{"output": []}'),
        ("POST", "/v1beta/models/gemini:generateContent", "{}"),
        ("POST", "/v1/agents/x", '{"tool_calls": [{"name": "delete_user"}]}'),
    ],
)
def test_an_answer_of_an_api_that_is_not_read_may_hold_calls(method, path, body):
    trace = beside_a_chat(method, path, body)
    assert {"calls", "messages"} <= trace.gaps.keys()
    assert f"`{method} {path.removeprefix('/v1/').strip('/')[:20]}" in trace.gaps["calls"]
    assert "calls" not in beside_a_chat(method, path, body, status=404).gaps


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *[
            ("POST", f"/v1/{name}")
            for name in ("embeddings", "moderations", "images/generations", "audio/speech", "rerank")
        ],
        *[
            ("POST", f"/v1/{name}")
            for name in ("messages/count_tokens", "responses/input_tokens", "vector_stores/v/search")
        ],
        *[("POST", f"/v1/{name}") for name in ("responses/r/cancel", "threads", "threads/t/messages", "conversations")],
        *[("GET", f"/v1/{name}") for name in ("models", "files", "conversations/c/items", "models/gpt-4o")],
        ("DELETE", "/v1/responses/r"),
    ],
)
def test_a_request_that_asks_no_model_leaves_nothing_open(method, path):
    assert beside_a_chat(method, path, '{"data": []}').gaps == {}


def test_a_chat_below_the_path_of_a_gateway_is_read():
    call = {"id": "c", "type": "function", "function": {"name": "delete_user", "arguments": "{}"}}
    body = {"id": "x", "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}
    request = replace(chat(USER), path="/v1/projects/p/chat/completions")
    trace = trace_of(exchange(request, ProviderAnswer(200, "application/json", [(0.0, json.dumps(body).encode())])))
    assert [each["name"] for each in trace.tool_calls] == ["delete_user"]


@pytest.mark.parametrize(("name", "is_known"), [("delete_user", False), ("f", True)])
def test_a_second_answer_that_asks_for_another_call_leaves_calls_open(name, is_known):
    """The agent may have taken either; one that asks for the same is no other."""

    def choice(tool):
        call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        return {"message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}

    def calls_gap(*choices):
        body = json.dumps({"id": "x", "choices": choices}).encode()
        return trace_of(exchange(chat(USER), ProviderAnswer(200, "application/json", [(0.0, body)]))).gaps.get("calls")

    assert (calls_gap(choice("f"), choice(name)) is None) is is_known
    assert calls_gap(*HI["choices"], *HI["choices"]) is None


@pytest.mark.parametrize(("index", "is_known"), [(1, False), (0, True)])
def test_a_stream_whose_second_answer_asks_for_a_call_leaves_calls_open(index, is_known):
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    choices = [
        {"index": 0, "delta": {"role": "assistant", "content": "Hi"}},
        {"index": index, "delta": {"tool_calls": [call]}},
        *({"index": each, "delta": {}, "finish_reason": "stop"} for each in range(index + 1)),
    ]
    events = [(0.0, b"data: " + json.dumps({"id": "x", "choices": [each]}).encode() + b"\n\n") for each in choices]
    trace = trace_of(
        exchange(chat(USER), ProviderAnswer(200, "text/event-stream", [*events, (0.0, b"data: [DONE]\n\n")]))
    )
    assert ("calls" not in trace.gaps) is is_known
