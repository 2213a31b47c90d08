"""What a provider or a gateway shows beside the message is no call that may vanish; honest fields change nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_cassettes import TRIAL, USER, exchange

from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.exchange import ProviderAnswer, ProviderRequest
from evalgate.features.record.models.run import ProcessRun

ACT = {"name": "delete_user", "arguments": {"id": 1}, "output": "ok"}
CALL = {"id": "b", "type": "function", "function": {"name": "delete_user", "arguments": "{}"}}
ITEM = {"type": "function_call", "id": "f", "call_id": "b", "name": "delete_user", "arguments": "{}"}
BLOCK = {"type": "tool_use", "id": "b", "name": "delete_user", "input": {}}
LITELLM = {"mcp_tool_calls": [CALL], "mcp_call_results": [{"tool_call_id": "b", "result": "ok"}]}
TEXT = {"type": "text", "text": "Done."}
SAID = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}
RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "delete_user", "arguments": {"id": 1}}}


def send(path: str, body: Any, answer: Any, at: float = 1.0) -> Any:
    """An exchange; a list is a stream of events, and an event that is a pair has a name."""
    provider = "anthropic" if path == "/messages" else "openai"
    request = ProviderRequest(provider, "POST", path, "application/json", json.dumps(body).encode())
    if type(answer) is not list:
        return exchange(request, ProviderAnswer(200, "application/json", [(1.0, json.dumps(answer).encode())]), at)
    events = [each if type(each) is tuple else (None, each) for each in answer]
    lines = [f"{f'event: {name}' if name else ': x'}\ndata: {json.dumps(each)}\n\n".encode() for name, each in events]
    chunks = [(float(number), line) for number, line in enumerate(lines)]
    return exchange(request, ProviderAnswer(200, "text/event-stream", chunks), at)


def chat(answer: Any, *messages: Any, **more: Any) -> Any:
    return send("/chat/completions", {"model": "m", "messages": [USER, *messages], **more}, answer)


def completion(message: Any = (), choice: Any = (), **top: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "Done.", **dict(message)}
    found = {"index": 0, "finish_reason": "stop", **dict(choice), "message": said}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [found], **top}


def chunk(delta: Any, end: str | None = None, choice: Any = (), **top: Any) -> dict[str, Any]:
    found = {"index": 0, "delta": delta, "finish_reason": end, **dict(choice)}
    return {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [found], **top}


def streamed(*events: Any) -> Any:
    return chat([chunk({"role": "assistant", "content": "Done."}), *events, chunk({}, "stop")])


def responses(answer: Any) -> Any:
    return send("/responses", {"model": "m", "input": [USER]}, answer)


def response(*output: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": "completed", "model": "m", "output": [*output], **more}


def anthropic(answer: Any) -> Any:
    return send("/messages", {"model": "m", "messages": [USER]}, answer)


def message(*content: Any, **more: Any) -> dict[str, Any]:
    end = {"stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [*content], **end, **more}


def blocks(*deltas: Any, start: Any = (), end: Any = (), others: Any = ()) -> Any:
    return anthropic(
        [
            {"type": "message_start", "message": message(*start, stop_reason=None)},
            {"type": "ping"},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
            *({"type": "content_block_delta", "index": 1, "delta": each} for each in deltas),
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Done."}},
            {"type": "content_block_stop", "index": 1},
            *others,
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", **dict(end)}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        ]
    )


def other(path: str, body: Any, answer: Any = ()) -> list[Any]:
    return [send(path, body, dict(answer)), send("/chat/completions", {"messages": [USER]}, completion(), 2.0)]


def record(*exchanges: Any) -> Any:
    return build_trace(exchanges, ProcessRun(TRIAL, "t"))


DONE_BESIDE = {
    "a field of the message": chat(completion({"executed_tools": [ACT]})),
    "a field of the message, without names": chat(completion({"executed_tools": [{"type": "mcp", "output": "ok"}]})),
    "a gateway's own fields": chat(completion({"provider_specific_fields": LITELLM})),
    "an annotation": chat(completion({"annotations": [{"type": "tool_call", **ACT}]})),
    "a detail of reasoning": chat(completion({"reasoning_details": [{"type": "tool.call", **ACT}]})),
    "a field of the choice": chat(completion(choice={"tool_results": [ACT]})),
    "a field of the answer": chat(completion(tool_executions=[{"tool": "delete_user", "arguments": {"id": 1}}])),
    "results of the answer": chat(completion(tool_results=[ACT])),
    "a delta's field": streamed(chunk({"content": "", "executed_tools": [ACT]})),
    "a delta's own fields": streamed(chunk({"provider_specific_fields": LITELLM})),
    "a delta's outputs": streamed(chunk({"tool_outputs": [CALL]})),
    "a chunk's message beside its delta": streamed(chunk({}, choice={"message": {"tool_calls": [CALL]}})),
    "a chunk's message beside another delta": streamed(
        chunk({"content": None, "refusal": None}, choice={"message": {"tool_calls": [CALL]}})
    ),
    "a chunk's choice": streamed(chunk({}, choice={"tool_results": [ACT]})),
    "a chunk's results": streamed(chunk({}, tool_results=[ACT])),
    "a chunk without choices": streamed({"object": "chat.completion.chunk", "choices": [], "executed_tools": [ACT]}),
    "a named event": streamed(("tool_call", {"name": "delete_user", "arguments": {"id": 1}})),
    "an object of its own": streamed({"object": "tool.execution", **ACT}),
    "an event of its own type": streamed({"type": "agent_action", "do": "delete_user", "with": {"id": 1}}),
    "a message of the request": chat(
        completion(), {"role": "assistant", "content": "I look.", "executed_tools": [ACT]}
    ),
    "results of the request": chat(completion(), tool_results=[ACT]),
    "a field of an item": responses(response({**SAID, "executed_tools": [ACT]})),
    "a field of a part": responses(response({**SAID, "content": [{**SAID["content"][0], "executed_tools": [ACT]}]})),
    "a field of a response": responses(response(SAID, tool_calls=[CALL])),
    "steps of an unknown item": responses(
        response({"type": "workflow_run", "id": "w", "steps": [{"tool": "delete_user", "input": {}}]}, SAID)
    ),
    "an unknown item's action": responses(
        response({"type": "hosted_call", "id": "z", "action": {"name": "delete_user", "arguments": "{}"}}, SAID)
    ),
    "an event of responses": responses(
        [{"type": "response.tool_execution", **ACT}, {"type": "response.completed", "response": response(SAID)}]
    ),
    "a field of a block": anthropic(message({**TEXT, "executed_tools": [ACT]})),
    "a field of an answer": anthropic(message(TEXT, executed_tools=[ACT])),
    "calls of an answer": anthropic(message(TEXT, mcp_tool_calls=[CALL])),
    "an unknown delta": blocks({"type": "tool_call_delta", "name": "delete_user", "input": {}}),
    "content of the last delta": blocks(end={"content": [BLOCK]}),
    "content of the start": blocks(start=[BLOCK]),
    "an event of its own": blocks(others=[{"type": "tool_execution", **ACT}]),
    "a tool of an MCP gateway": other("/mcp", RPC, {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}),
    "a tool of a REST gateway": other("/mcp-rest/tools/call", {"name": "delete_user", "arguments": {"id": 1}}),
    "items of a conversation": other("/conversations", {"items": [ITEM]}, {"id": "v", "object": "conversation"}),
    "a compacted answer": other("/responses/compact", {"input": [USER]}, {"output": [ITEM]}),
}


@pytest.mark.parametrize("name", DONE_BESIDE)
def test_what_was_done_beside_the_message_makes_calls_incomplete(name):
    given = DONE_BESIDE[name]
    trace = record(*(given if type(given) is list else [given]))
    assert "calls" in trace.gaps
    assert trace.response["content"] == "Done."
    assert [each["where"] for each in trace.warnings if each["code"] == "missing_evidence"] == ["calls"]


def test_a_call_that_a_stream_of_responses_had_and_its_last_event_lacks_is_a_call():
    added = {"type": "response.output_item.done", "output_index": 0, "item": ITEM}
    trace = record(responses([added, {"type": "response.completed", "response": response(SAID)}]))
    assert [call["name"] for call in trace.tool_calls] == ["delete_user"]
    assert (trace.response["content"], trace.gaps) == ("Done.", {})


def test_an_item_that_the_last_event_has_by_another_id_is_one_call():
    added = {"type": "response.output_item.done", "output_index": 0, "item": {**ITEM, "id": "g", "call_id": "c"}}
    trace = record(responses([added, {"type": "response.completed", "response": response(ITEM, SAID)}]))
    assert ([call["name"] for call in trace.tool_calls], trace.gaps) == (["delete_user"], {})


CITED = {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 3, "url": "https://a", "title": "t"}}
FILTERED = {"hate": {"filtered": False, "severity": "safe"}}
THOUGHT = {"type": "thinking", "thinking": "I should use a tool", "signature": "s"}
DETAIL = {"type": "reasoning.text", "text": "let me call a tool", "format": "anthropic-claude-v1", "index": 0}
FOUND = {"title": "t", "url": "https://a", "date": "2026-01-01", "snippet": "x"}
ROUTE = {"gateway": {"routing": {"resolvedProvider": "openai", "attempts": [{"provider": "openai", "success": True}]}}}
DETAILS = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "total_tokens": 15,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
    "cost_details": {"upstream_inference_cost": None},
    "server_tool_use": {"web_search_requests": 0},
}
PROBS = {"content": [{"token": "D", "logprob": -0.1, "bytes": [1], "top_logprobs": [{"token": "D", "logprob": -1}]}]}
OF_MESSAGES: dict[str, dict[str, Any]] = {
    "refusal": {"refusal": None, "annotations": [], "audio": None, "function_call": None, "tool_calls": None},
    "no calls": {"tool_calls": []},
    "reasoning": {"reasoning_content": "I think about delete_user(id=1).", "reasoning": "x"},
    "details of reasoning": {"reasoning_details": [DETAIL]},
    "thinking": {"thinking_blocks": [THOUGHT]},
    "own fields": {"provider_specific_fields": {"citations": None, "thinking_blocks": [THOUGHT]}},
    "list of tools": {
        "provider_specific_fields": {"mcp_list_tools": [{"type": "function", "function": {"name": "x"}}]}
    },
    "citations": {"annotations": [CITED]},
    "search": {"search_results": [FOUND], "citations": ["https://a"]},
    "images": {"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]},
    "times": {"timestamp": "2026-11-01T10:00:00Z", "id": "msg_1", "latency_ms": 3},
    "moderation": {"moderation": {"flagged": False, "categories": {"hate": False}}},
    "signature": {"extra_content": {"google": {"thought_signature": "CiQB"}}},
    "audio": {"audio": {"id": "a", "data": "AA", "transcript": "x", "expires_at": 1}},
    "route": {"provider_metadata": ROUTE},
    "parsed": {"parsed": None},
}
OF_CHOICES: dict[str, dict[str, Any]] = {
    "probabilities": {"logprobs": PROBS},
    "filters": {"content_filter_results": FILTERED, "native_finish_reason": "STOP"},
    "tokens": {"token_ids": [1, 2], "stop_reason": 3, "matched_stop": "x"},
}
OF_ANSWERS: dict[str, dict[str, Any]] = {
    "usage": {"usage": DETAILS},
    "prompt filters": {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTERED}]},
    "groq": {"provider": "Groq", "x_groq": {"id": "req_1", "usage": {"queue_time": 0.1}}, "usage_breakdown": None},
    "fingerprint": {"system_fingerprint": "fp", "service_tier": "default", "obfuscation": "x", "created": 1},
    "search": {"citations": ["https://a"], "search_results": [FOUND], "related_questions": ["Who?"]},
    "hooks": {"hook_results": {"before_request_hooks": [{"id": "h", "verdict": True, "checks": []}]}},
    "prompt tokens": {"prompt_token_ids": [1], "kv_transfer_params": {"remote": None}},
}
LISTED = {"type": "mcp_list_tools", "id": "l", "server_label": "d", "tools": [{"name": "x", "input_schema": {}}]}
CITATION = {"type": "web_search_result_location", "url": "https://a", "title": "t", "cited_text": "x"}
ASKED = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "extra_content": {"google": {"s": "t"}}}]}
ANSWERED = {"role": "tool", "tool_call_id": "b", "content": '{"name": "x", "arguments": {"a": 1}}'}
HONEST = {
    **{f"message: {name}": chat(completion(each)) for name, each in OF_MESSAGES.items()},
    **{f"delta: {name}": streamed(chunk(each)) for name, each in OF_MESSAGES.items()},
    **{
        f"request: {name}": chat(completion(), {**USER, "role": "assistant", **each})
        for name, each in OF_MESSAGES.items()
    },
    **{f"choice: {name}": chat(completion(choice=each)) for name, each in OF_CHOICES.items()},
    **{f"chunk's choice: {name}": streamed(chunk({}, choice=each)) for name, each in OF_CHOICES.items()},
    **{f"answer: {name}": chat(completion(**each)) for name, each in OF_ANSWERS.items()},
    **{f"chunk: {name}": streamed(chunk({}, **each)) for name, each in OF_ANSWERS.items()},
    **{
        f"event: {name}": streamed({"object": "chat.completion.chunk", "model": "m", **each})
        for name, each in OF_ANSWERS.items()
    },
    "an event that keeps the connection": streamed({"type": "ping"}, {"type": "status", "status": "running"}),
    "another event with figures": streamed({"type": "metadata", "model": "m", "usage": DETAILS}),
    "a call that was read, and its results": chat(completion(tool_results=[ACT]), ASKED, ANSWERED),
    "settings of a request": chat(
        completion(),
        tools=[{"type": "function", "function": {"name": "x", "parameters": {"type": "object", "properties": {}}}}],
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
        metadata={"action": "x"},
        stream_options={"include_usage": True},
    ),
    "a whole response": responses(
        response(
            LISTED,
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "I call a tool"}]},
            {**SAID, "content": [{**SAID["content"][0], "annotations": [CITED], "logprobs": []}], "phase": "final"},
            reasoning={"effort": None, "summary": None},
            text={"format": {"type": "text"}, "verbosity": "medium"},
            tools=[{"type": "function", "name": "x", "parameters": {}, "strict": True}],
            billing={"payer": "developer"},
            usage={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        )
    ),
    "a stream of responses": responses(
        [
            {"type": "response.created", "response": response()},
            {"type": "response.output_item.added", "output_index": 0, "item": {**SAID, "content": []}},
            {"type": "response.content_part.added", "output_index": 0, "item_id": "m", "part": SAID["content"][0]},
            {"type": "response.output_text.annotation.added", "item_id": "m", "annotation": CITED},
            {"type": "response.output_item.done", "output_index": 0, "item": SAID},
            {"type": "keepalive", "sequence_number": 5},
            {"type": "response.completed", "response": response({**SAID, "id": "other"})},
        ]
    ),
    "an answer of Anthropic": anthropic(
        message(
            {**TEXT, "citations": [CITATION]},
            container={"id": "c1", "expires_at": "2026-01-01T00:00:00Z", "skills": [{"type": "a", "skill_id": "pdf"}]},
            context_management={"applied_edits": []},
            stop_details={"type": "refusal", "category": None},
        )
    ),
    "settings of a message, as Claude Code sends them": send(
        "/messages",
        {"messages": [USER, {"role": "system", "content": [TEXT], "output_config": {"effort": "high"}}]},
        message(TEXT),
    ),
    "a stream of Anthropic": blocks(
        {"type": "citations_delta", "citation": CITATION},
        end={"stop_sequence": None, "container": {"id": "c1", "expires_at": "2026-01-01T00:00:00Z"}},
    ),
    "an embedding": other("/embeddings", {"model": "e", "input": "x"}, {"object": "list", "data": []}),
    "a ranking": other("/rerank", {"query": "x", "documents": ["a"]}, {"results": [{"index": 0}]}),
    "a list of an MCP gateway": other(
        "/mcp", {"jsonrpc": "2.0", "method": "tools/list"}, {"result": {"tools": [{"name": "x", "inputSchema": {}}]}}
    ),
    "the start of an MCP gateway": other(
        "/mcp", {"method": "initialize", "params": {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
    ),
    "a tool of an MCP gateway that the model asked for": [
        send("/mcp", RPC, {"result": {"content": []}}),
        send("/chat/completions", {"messages": [USER, ASKED, ANSWERED]}, completion(), 2.0),
    ],
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_fields_beside_the_message_leave_calls_complete(name):
    given = HONEST[name]
    trace = record(*(given if type(given) is list else [given]))
    assert trace.gaps == {}
    assert trace.response["content"] == "Done."


def test_a_tool_of_a_gateway_may_lack_the_prefix_of_its_server():
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{**CALL, "function": {"name": "mcp__db__delete_user"}}],
    }
    body = {"messages": [USER, asked, {"role": "tool", "tool_call_id": "b", "content": "ok"}]}
    trace = record(send("/mcp", RPC, {"result": {}}), send("/chat/completions", body, completion(), 2.0))
    assert trace.gaps == {}
