"""Exchanges of one run become one conversation: continued, retried, compacted; sub-agents count and are not shown."""

from __future__ import annotations

import json
from typing import Any

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
