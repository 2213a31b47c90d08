from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_builders import agent, call_part, chat, genai_message, response_part, span, tool, weather_run

from evalgate.adapters.formats.core.fields import FieldError
from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.spans.dialects import read_facts
from evalgate.adapters.formats.spans.span import SpanEvent
from evalgate.errors import TraceError

OPENINFERENCE = "openinference.span.kind"


def read_span(name="x", events=(), scope=None, failed=False, **attributes):
    return read_facts(span(name, attributes=attributes, events=list(events), scope=scope, failed=failed))


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"gen_ai.operation.name": "chat"}, "inference"),
        ({"gen_ai.operation.name": "generate_content"}, "inference"),
        ({"gen_ai.operation.name": "text_completion"}, "inference"),
        ({"gen_ai.operation.name": "call_llm"}, "inference"),
        ({"gen_ai.operation.name": "execute_tool"}, "tool"),
        ({"gen_ai.operation.name": "invoke_agent"}, "agent"),
        ({"gen_ai.operation.name": "invoke_workflow"}, "agent"),
        ({"gen_ai.operation.name": "create_agent"}, "other"),
        ({"gen_ai.operation.name": "agent_handoff"}, "other"),
        ({"gen_ai.operation.name": "handoff"}, "other"),
        ({"gen_ai.operation.name": "embeddings"}, "excluded"),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"}, "other"),
        ({"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c"}, "tool"),
        ({"gen_ai.tool.name": "f", "mcp.method.name": "tools/call"}, "tool"),
        ({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 3}, "inference"),
        ({"gen_ai.request.model": "m"}, "other"),
        ({OPENINFERENCE: "LLM"}, "inference"),
        ({OPENINFERENCE: "TOOL"}, "tool"),
        ({OPENINFERENCE: "AGENT"}, "agent"),
        ({OPENINFERENCE: "CHAIN"}, "other"),
        ({OPENINFERENCE: "RETRIEVER"}, "other"),
        ({OPENINFERENCE: "EVALUATOR"}, "excluded"),
        ({"traceloop.span.kind": "workflow"}, "agent"),
        ({"traceloop.span.kind": "tool"}, "tool"),
        ({"traceloop.span.kind": "task"}, "other"),
        ({"llm.request.type": "chat"}, "inference"),
        ({"ai.operationId": "ai.generateText.doGenerate"}, "inference"),
        ({"ai.operationId": "ai.streamText"}, "inference"),
        ({"ai.operationId": "ai.toolCall"}, "tool"),
        ({"ai.operationId": "ai.embed"}, "excluded"),
        ({"gcp.vertex.agent.llm_request": '{"model": "m"}'}, "inference"),
        ({"gcp.vertex.agent.llm_request": "{}"}, "other"),
        ({"agent_name": "a", "final_result": "x", "gen_ai.request.model": "m"}, "agent"),
        ({"evalgate.role": "judge", OPENINFERENCE: "LLM"}, "excluded"),
        ({"http.method": "GET"}, "other"),
        ({}, "other"),
    ],
)
def test_the_kind_of_a_span(attributes, kind):
    assert read_span(**attributes).kind == kind


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 4},
        {"gen_ai.usage.input_tokens": "30", "gen_ai.usage.output_tokens": 4.0},
        {"gen_ai.usage.prompt_tokens": 30, "gen_ai.usage.completion_tokens": 4},
        {"llm.token_count.prompt": 30, "llm.token_count.completion": 4, "llm.token_count.total": 34},
        {"ai.operationId": "ai.generateText", "ai.usage.promptTokens": 30, "ai.usage.completionTokens": 4},
        {"ai.operationId": "ai.generateText", "ai.usage.inputTokens": 30, "ai.usage.outputTokens": 4},
    ],
)
def test_tokens_in_all_spellings(attributes):
    usage = read_span(**attributes).usage
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (30, 4, 34)


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("gen_ai.usage.cache_read.input_tokens", "cache_read_input_tokens"),
        ("gen_ai.usage.cache_read_input_tokens", "cache_read_input_tokens"),
        ("llm.token_count.prompt_details.cache_read", "cache_read_input_tokens"),
        ("gen_ai.usage.cache_creation.input_tokens", "cache_write_input_tokens"),
        ("gen_ai.usage.cache_write.input_tokens", "cache_write_input_tokens"),
        ("llm.token_count.prompt_details.cache_write", "cache_write_input_tokens"),
        ("gen_ai.usage.reasoning.output_tokens", "reasoning_output_tokens"),
        ("gen_ai.usage.reasoning_tokens", "reasoning_output_tokens"),
        ("llm.token_count.completion_details.reasoning", "reasoning_output_tokens"),
    ],
)
def test_details_of_tokens_in_all_spellings(key, field):
    both = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 9}
    both |= {"llm.token_count.prompt": 30, "llm.token_count.completion": 9}
    assert read_span(**both, **{key: 7}).usage[field] == 7


@pytest.mark.parametrize("value", [-1, "many", True, 1.5, [3]])
def test_invalid_token_counts_are_an_error(value):
    with pytest.raises(FieldError, match=r"attributes\.gen_ai\.usage\.input_tokens"):
        read_span(**{"gen_ai.usage.input_tokens": value})


def test_the_model_that_answered_takes_precedence_over_the_requested_one():
    facts = read_span(**{"gen_ai.request.model": "gpt", "gen_ai.response.model": "gpt-2024", "llm.model_name": "other"})
    assert facts.model == "gpt-2024"


def test_a_kit_that_names_itself_as_the_provider_is_not_one():
    assert read_span(**{"gen_ai.system": "gcp.vertex.agent", "llm.provider": "google"}).provider == "google"


def test_messages_may_be_text_or_structure():
    listed = [genai_message("user", "hi")]
    for value in (listed, json.dumps(listed)):
        facts = read_span(**{"gen_ai.operation.name": "chat", "gen_ai.input.messages": value})
        assert [(one.role, one.content) for one in facts.input] == [("user", "hi")]


def test_messages_in_another_frameworks_shape_are_read_too():
    value = json.dumps([{"role": "user", "content": "hi"}])
    assert read_span(**{"gen_ai.operation.name": "chat", "gen_ai.input.messages": value}).input[0].content == "hi"


def test_messages_that_a_tracer_cut_are_a_warning():
    trace = build([chat(0, 900, (1, 1), **{"gen_ai.input.messages": '[{"role": "user", "parts": [{"type'})])
    assert [warning["code"] for warning in trace.warnings][:2] == ["content_unreadable", "content_not_captured"]
    assert set(trace.gaps) == {"calls", "messages"}


def test_parts_that_are_not_text_are_placeholders():
    parts = [
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"},
        {"type": "uri"},
    ]
    [one] = read_span(
        **{"gen_ai.operation.name": "chat", "gen_ai.input.messages": [genai_message("user", "look", *parts)]}
    ).input
    assert one.content == "look"
    assert one.parts == [{"type": "text", "text": "look"}, {"type": "blob"}, {"type": "uri"}]
    assert "AAAA" not in str(one)


def test_reasoning_and_server_tools_are_separate_parts():
    parts = [
        {"type": "reasoning", "content": "hmm"},
        {
            "type": "server_tool_call",
            "id": "s1",
            "name": "web",
            "server_tool_call": {"type": "web", "query": "q"},
        },
        {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": "found"},
        "Here.",
    ]
    trace = build([chat(0, 900, (1, 1), [genai_message("user", "?")], [genai_message("assistant", *parts)])])
    [call] = trace.tool_calls
    assert (call["name"], call["arguments"], call["result"]) == ("web", {"query": "q"}, "found")
    assert trace.messages[1]["reasoning"] == "hmm"
    assert trace.response["content"] == "Here."


def test_alternatives_are_not_consecutive_messages():
    both = [genai_message("assistant", "one", finish="stop"), genai_message("assistant", "two", finish="stop")]
    assert build([chat(0, 900, (1, 1), [genai_message("user", "?")], both)]).response["content"] == "one"


def test_an_unknown_role_in_an_output_is_the_models():
    trace = build([chat(0, 900, (1, 1), [genai_message("user", "?")], [genai_message("unknown", call_part("f", "c"))])])
    assert trace.messages[1]["role"] == "assistant"


def test_instructions_beside_the_messages_are_the_systems():
    attributes = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}])}
    trace = build([chat(0, 900, (1, 1), [genai_message("user", "?")], [genai_message("assistant", "!")], **attributes)])
    assert trace.messages[0]["role"] == "system"
    assert trace.system_instructions == "Be brief."


def body(name, **fields):
    return SpanEvent(f"gen_ai.{name}", None, {"gen_ai.system": "openai"}, fields)


def test_messages_in_events_one_each():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    events = [
        body("system.message", content="Be brief."),
        body("user.message", content="hi"),
        body("assistant.message", tool_calls=[call]),
        body("tool.message", content="done", id="c1"),
        body("choice", index=0, finish_reason="stop", message={"role": "assistant", "content": "bye"}),
        body("choice", index=1, finish_reason="stop", message={"role": "assistant", "content": "adieu"}),
    ]
    request = chat(0, 900, (1, 1))
    request.events = events
    trace = build([request])
    assert [message["role"] for message in trace.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [(call["id"], call["arguments"], call["result"]) for call in trace.tool_calls] == [("c1", {"x": 1}, "done")]
    assert trace.response == {"content": "bye", "finish_reason": "stop", "message_index": 4}


def test_choices_of_anthropic_are_blocks_of_one_message():
    def block(number, **fields):
        return SpanEvent("gen_ai.choice", None, {"gen_ai.provider.name": "anthropic"}, {"index": number, **fields})

    call = {"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}
    facts = read_span(events=[block(0, message={"content": "Let me see."}), block(1, message={}, tool_calls=[call])])
    [one] = facts.output
    assert (one.content, [asked.name for asked in one.calls]) == ("Let me see.", ["f"])


def test_events_without_content_are_not_messages():
    facts = read_span(events=[body("user.message"), body("choice", index=0, finish_reason="stop", message={})])
    assert (facts.kind, facts.input, facts.output, facts.finish_reason) == ("inference", None, None, "stop")


def test_placeholders_for_content_left_out_of_events_are_not_content():
    elided = [body("system.message", content="<elided>"), body("user.message", content="<elided>")]
    facts = read_span(events=[*elided, body("choice", index=0, content="<elided>", finish_reason="STOP")])
    assert (facts.input, facts.output, facts.finish_reason) == (None, None, "STOP")


def test_details_of_a_request_in_one_event():
    details = {
        "gen_ai.input.messages": [genai_message("user", "hi")],
        "gen_ai.output.messages": [genai_message("assistant", "yo")],
    }
    facts = read_span(events=[SpanEvent("gen_ai.client.inference.operation.details", 1, details)])
    assert (facts.input[0].content, facts.output[0].content) == ("hi", "yo")


def test_flattened_messages_of_openllmetry():
    facts = read_span(
        **{
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.10.role": "tool",
            "gen_ai.prompt.10.content": "done",
            "gen_ai.prompt.10.tool_call_id": "c1",
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.tool_calls.0.id": "c1",
            "gen_ai.prompt.2.tool_calls.0.name": "f",
            "gen_ai.prompt.2.tool_calls.0.arguments": "{}",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "bye",
            "gen_ai.completion.0.finish_reason": "stop",
        }
    )
    assert [one.role for one in facts.input] == ["system", "assistant", "tool"]
    assert facts.input[1].calls[0].id == facts.input[2].answers[0].id == "c1"
    assert (facts.output[0].content, facts.finish_reason) == ("bye", "stop")


def test_flattened_messages_of_openinference():
    prefix = "llm.output_messages.0.message."
    facts = read_span(
        **{
            OPENINFERENCE: "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "look",
            "llm.input_messages.0.message.contents.1.message_content.type": "image",
            "llm.input_messages.0.message.contents.1.message_content.image.image.url": "data:AAAA",
            f"{prefix}role": "model",
            f"{prefix}content": "I look.",
            f"{prefix}tool_calls.0.tool_call.id": "c1",
            f"{prefix}tool_calls.0.tool_call.function.name": "f",
            f"{prefix}tool_calls.0.tool_call.function.arguments": '{"x": 1}',
        }
    )
    assert facts.input[0].parts == [{"type": "text", "text": "look"}, {"type": "image"}]
    assert (facts.output[0].role, facts.output[0].content, facts.output[0].calls[0].name) == (
        "assistant",
        "I look.",
        "f",
    )


@pytest.mark.parametrize(("plain", "content"), [("one\ntwo", "one\ntwo"), ("zero", "zero\none\ntwo")])
def test_a_text_that_openinference_records_as_blocks_and_once_more_is_read_once(plain, content):
    message = "llm.output_messages.0.message."
    blocks = {f"{message}contents.{at}.message_content.text": text for at, text in enumerate(("one", "two"))}
    facts = read_span(**{OPENINFERENCE: "LLM", f"{message}role": "assistant", f"{message}content": plain, **blocks})
    assert [one.content for one in facts.output] == [content]


def test_blocks_that_openinference_lists_one_by_one_are_one_message():
    prefix = "llm.output_messages."
    facts = read_span(
        **{
            OPENINFERENCE: "AGENT",
            f"{prefix}0.message.contents.0.message_content.type": "reasoning",
            f"{prefix}0.message.contents.0.message_content.text": "hmm",
            f"{prefix}1.message.content.0": "I ask two.",
            f"{prefix}2.message.tool_calls.0.tool_call.function.name": "f",
            f"{prefix}3.message.tool_calls.0.tool_call.function.name": "g",
        }
    )
    assert [(one.reasoning, one.content, len(one.calls)) for one in facts.output] == [
        ("hmm", "I ask two.", 0),
        (None, None, 2),
    ]


def test_a_shown_list_of_calls_is_calls():
    text = "Calling tools:\n[{'id': 'call_1', 'type': 'function', 'function': {'name': 'web', 'arguments': {'q': 1}}}]"
    facts = read_span(
        **{
            OPENINFERENCE: "LLM",
            "llm.input_messages.0.message.role": "assistant",
            "llm.input_messages.0.message.content": "I search.",
            "llm.input_messages.1.message.role": "tool-call",
            "llm.input_messages.1.message.content": text,
            "llm.input_messages.2.message.role": "tool-response",
            "llm.input_messages.2.message.content": "found",
        }
    )
    assert [(one.role, [asked.name for asked in one.calls]) for one in facts.input] == [
        ("assistant", ["web"]),
        ("tool", []),
    ]
    assert facts.input[0].calls[0].arguments == {"q": 1}


def test_arguments_of_a_tool_whose_parameters_are_its_schema_are_in_the_input():
    facts = read_span(
        **{
            OPENINFERENCE: "TOOL",
            "tool.name": "final_answer",
            "tool.parameters": '{"answer": {"type": "any"}, "note": {"type": "string"}}',
            "input.value": '{"args": ["42"], "sanitize_inputs_outputs": false, "kwargs": {"note": "n"}}',
            "output.value": "42",
        }
    )
    assert (facts.tool_name, facts.arguments, facts.result) == (
        "final_answer",
        {"answer": "42", "note": "n"},
        "42",
    )


def test_arguments_are_in_the_input_where_the_parameters_are_a_json_schema():
    schema = '{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}'
    given = {OPENINFERENCE: "TOOL", "tool.name": "delete", "tool.parameters": schema}
    assert read_span(**given, **{"input.value": '{"path": "prod"}'}).arguments == '{"path": "prod"}'
    assert read_span(**given).arguments is None


def test_a_tool_of_googles_kit():
    facts = read_span(
        **{
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "f",
            "gcp.vertex.agent.tool_call_args": '{"x": 1}',
            "gcp.vertex.agent.tool_response": '{"ok": true}',
        }
    )
    assert (facts.arguments, facts.result) == ('{"x": 1}', '{"ok": true}')


def test_a_request_of_googles_kit():
    request = {
        "model": "gemini",
        "config": {"system_instruction": "Be brief."},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }
    response = {
        "content": {"role": "model", "parts": [{"text": "yo"}]},
        "finish_reason": "STOP",
        "usage_metadata": {"prompt_token_count": 9, "candidates_token_count": 2, "total_token_count": 11},
    }
    facts = read_span(
        **{
            "gen_ai.request.model": "gemini",
            "gcp.vertex.agent.llm_request": json.dumps(request),
            "gcp.vertex.agent.llm_response": json.dumps(response),
        }
    )
    assert [one.role for one in facts.input] == ["system", "user"]
    assert (facts.output[0].content, facts.usage["total_tokens"], facts.finish_reason) == ("yo", 11, "STOP")


def test_a_tool_of_googles_kit_without_content_has_neither_arguments_nor_result():
    run = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    names = ("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response")
    facts = read_span(**run, **dict.fromkeys(names, "{}"))
    assert (facts.arguments, facts.result) == (None, None)
    facts = read_span(**run, **dict(zip(names, ("{}", '{"result": null}'), strict=True)))
    assert (facts.arguments, facts.result) == ("{}", '{"result": null}')


def claude(name, **attributes):
    return read_facts(span(f"claude_code.{name}", attributes=attributes))


def test_a_request_of_claude_code_counts_its_cache_as_input():
    counts = {"input_tokens": 8, "output_tokens": 40, "cache_read_tokens": 900, "cache_creation_tokens": 100}
    facts = claude("llm_request", model="claude-x", request_id="r1", success=True, **counts)
    assert (facts.kind, facts.model, facts.response_id, facts.error_type) == ("inference", "claude-x", "r1", None)
    usage = facts.usage
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (1008, 40, 1048)
    assert (usage["cache_read_input_tokens"], usage["cache_write_input_tokens"]) == (900, 100)
    assert claude("llm_request", model="claude-x", cache_read_tokens=5).usage is None


@pytest.mark.parametrize(("prompt", "user_texts"), [("List it.", ["List it."]), ("<REDACTED>", None)])
def test_an_interaction_of_claude_code_is_an_agents_run(prompt, user_texts):
    facts = claude("interaction", user_prompt=prompt)
    assert (facts.kind, facts.framework) == ("agent", "claude-code")
    assert (facts.input and [one.content for one in facts.input]) == user_texts


def test_a_tool_of_claude_code_has_the_content_that_the_user_enabled():
    output = SpanEvent("tool.output", 1, {"output": "a b"})
    facts = read_facts(
        span(
            "claude_code.tool",
            attributes={"tool_name": "Bash", "tool_use_id": "t1", "full_command": "ls"},
            events=[output],
        )
    )
    assert (facts.kind, facts.tool_name, facts.tool_call_id) == ("tool", "Bash", "t1")
    assert (facts.arguments, facts.result) == ({"command": "ls"}, "a b")
    assert claude("tool", tool_name="Task").arguments is None
    assert claude("tool.blocked_on_user", decision="accept").kind == "other"


def test_messages_of_other_agents_are_not_messages_of_the_user():
    words = ("Refund it.", "For context:\n[clerk] called tool `hand_over` with {}", "Please.")
    contents = [{"role": "user", "parts": [{"text": word}]} for word in words]
    facts = read_span(**{"gcp.vertex.agent.llm_request": json.dumps({"contents": contents})})
    assert [one.role for one in facts.input] == ["user", "system", "user"]


def test_a_request_and_a_tool_in_the_attributes_of_any_agent():
    request = {"gen_ai.operation.name": "call_llm", "gen_ai.request.model": "m"}
    costs = {"gen_ai.usage.input_cost": 0.001, "gen_ai.usage.output_cost": 0.002}
    asked = read_span(**request, **costs, **{"gen_ai.output": '[{"tool.name": "f", "tool.args": "{}"}]'})
    assert ([(one.name, one.arguments) for one in asked.output[0].calls], asked.cost_usd) == (
        [("f", "{}")],
        0.003,
    )
    part = read_span(**request, **{"gen_ai.output": '{"steps": []}', "gen_ai.usage.input_cost": 0.001})
    assert (part.output[0].content, part.cost_usd) == ('{"steps": []}', None)
    run = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.args": '{"x": 1}'}
    facts = read_span(**run, **{"gen_ai.output": "done"})
    assert (facts.arguments, facts.result) == ('{"x": 1}', "done")


def test_a_tool_of_langchains_callbacks():
    facts = read_span(
        **{
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "web",
            "traceloop.entity.input": '{"input_str": "{\'q\': 1}", "tags": [], "inputs": {"q": 1}}',
            "traceloop.entity.output": '{"output": "found", "kwargs": {}}',
        }
    )
    assert (facts.tool_name, facts.arguments, facts.result) == ("web", {"q": 1}, "found")


def test_steps_of_vercel_are_requests_and_their_wrapper_is_not():
    def step(start, answered, parent, **more):
        attributes = {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.model.id": "gpt",
            "ai.usage.inputTokens": 10,
            "ai.usage.outputTokens": 2,
            "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "hi"}]}]),
            **answered,
        }
        return span("ai.generateText.doGenerate", start, start + 100, parent=parent, attributes=attributes, **more)

    whole = {"ai.operationId": "ai.generateText", "ai.usage.inputTokens": 20, "ai.usage.outputTokens": 4}
    root = span("ai.generateText", 0, 900, attributes={**whole, "ai.model.id": "gpt", "ai.telemetry.metadata.k": "v"})
    calls = json.dumps([{"toolCallId": "c1", "toolName": "f", "input": '{"x": 1}'}])
    run = {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "f",
        "ai.toolCall.id": "c1",
        "ai.toolCall.result": "3",
    }
    trace = build(
        [
            root,
            step(10, {"ai.response.toolCalls": calls}, root),
            span("ai.toolCall", 200, 300, parent=root, attributes=run),
            step(400, {"ai.response.text": "bye", "ai.response.finishReason": "stop"}, root),
        ]
    )
    assert (len(trace.llm_calls), trace.usage["total_tokens"]) == (2, 24)
    assert [(call["arguments"], call["result"]) for call in trace.tool_calls] == [({"x": 1}, "3")]
    assert trace.response["content"] == "bye"
    assert trace.metadata == {"k": "v"}


def test_an_agent_of_pydantic_ai_records_its_whole_conversation_and_its_result():
    whole = [
        genai_message("user", "city?"),
        genai_message("assistant", call_part("final_result", "c1", city="Paris")),
        genai_message("user", response_part("Final result processed.", "c1", key="result")),
    ]
    root = span(
        "agent run",
        attributes={
            "agent_name": "finder",
            "pydantic_ai.all_messages": json.dumps(whole),
            "final_result": '{"city": "Paris"}',
            "gen_ai.usage.input_tokens": 7,
            "gen_ai.usage.output_tokens": 1,
            "model_name": "gpt",
        },
    )
    trace = build([root, chat(1, 900, (7, 1), whole[:1], whole[1:2], parent=root, **{"operation.cost": 0.5})])
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.response["content"] == '{"city":"Paris"}'
    assert (trace.usage["total_tokens"], trace.cost["usd"]) == (8, 0.5)
    assert trace.tool_calls[0]["status"] == "unknown"
    assert trace.agent == {"name": "finder", "framework": "pydantic-ai"}


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (
            ("langfuse.observation.type", "langfuse.observation.input", "langfuse.observation.output"),
            "generation",
        ),
        (("mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"), '"CHAT_MODEL"'),
    ],
)
def test_a_request_in_the_attributes_of_a_platform(names, kind):
    messages = json.dumps({"messages": [{"role": "user", "content": "hi"}]})
    answer = json.dumps({"role": "assistant", "content": "yo"})
    facts = read_span(**dict(zip(names, (kind, messages, answer), strict=True)))
    assert (facts.kind, facts.input[0].content, facts.output[0].content) == ("inference", "hi", "yo")


def test_usage_in_the_attributes_of_a_platform():
    facts = read_span(
        **{
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": "gpt",
            "langfuse.observation.usage_details": '{"input": 9, "output": 2, "total": 11}',
            "langfuse.observation.cost_details": '{"total": 0.5}',
            "langfuse.trace.metadata.scenario_id": "paris",
            "langfuse.trace.tags": ["a"],
        }
    )
    assert (facts.model, facts.usage["total_tokens"], facts.cost_usd) == ("gpt", 11, 0.5)
    assert (facts.scenario_id, facts.tags) == ("paris", ["a"])


def test_values_that_mlflow_writes_as_json_text_are_read_without_their_quotes():
    request = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.llm.model": '"gpt-4o"'}
    assert (read_span(**request).kind, read_span(**request).model) == ("inference", "gpt-4o")
    run = {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"x": 1}', "mlflow.spanOutputs": '"rain"'}
    facts = read_span(**run)
    assert (facts.kind, facts.arguments, facts.result) == ("tool", {"x": 1}, "rain")


def test_a_tool_in_the_attributes_of_a_platform():
    facts = read_span(
        "lookup",
        **{"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"x": 1}', "mlflow.spanOutputs": "done"},
    )
    assert (facts.kind, facts.tool_name, facts.arguments, facts.result) == ("tool", "lookup", {"x": 1}, "done")


def held(given, answered):
    def side(role, content):
        return {"messages": [{"role": role, "content": content}]}

    return SpanEvent("log", 1, {}, {"input": side("user", given), "output": side("assistant", answered)})


def test_input_and_output_in_the_body_of_a_log_record():
    generation = {"text": "I look.", "message": {"tool_calls": [{"name": "f", "args": {"x": 1}, "id": "c1"}]}}
    answer = {"name": "f", "type": "tool", "content": "done", "tool_call_id": "c1", "status": "success"}
    spans = [
        span("a", 0, 10, events=[held("hi", json.dumps({"generations": [[generation]]}))]),
        span("b", 10, 20, events=[held("{'x': 1}", json.dumps(answer))]),
        span("c", 20, 30, events=[held("hi", json.dumps({"generations": [[{"text": "bye"}]]}))]),
        span("d", 30, 40, events=[held("some", "__end__")]),
    ]
    trace = build(spans)
    assert [(call["name"], call["arguments"], call["result"]) for call in trace.tool_calls] == [("f", {"x": 1}, "done")]
    assert [message["content"] for message in trace.messages] == ["hi", "I look.", "bye"]


def test_the_framework_is_the_scopes():
    assert read_span(scope="openinference.instrumentation.smolagents").framework == "smolagents"
    assert read_span(scope="opentelemetry.instrumentation.httpx").framework is None


def test_scores_come_from_events():
    evaluation = {
        "gen_ai.evaluation.name": "truth",
        "gen_ai.evaluation.score.value": 0.5,
        "gen_ai.evaluation.score.label": "so",
    }
    spans = weather_run()
    spans[0].events = [SpanEvent("gen_ai.evaluation.result", None, evaluation)]
    [score] = build(spans).evaluations
    assert (score["name"], score["score_value"], score["score_label"]) == ("truth", 0.5, "so")


@pytest.mark.parametrize(
    ("escaped", "error"), [(True, "KeyError"), ("True", "KeyError"), (False, None), ("False", None)]
)
def test_an_exception_that_left_a_span_is_its_error_whatever_its_status(escaped, error):
    event = SpanEvent("exception", None, {"exception.type": "KeyError", "exception.escaped": escaped})
    assert read_span(events=[event]).error_type == error


def test_an_exception_names_the_error_of_a_failed_span():
    event = SpanEvent("exception", None, {"exception.type": "ValueError"})
    assert read_span(failed=True, events=[event]).error_type == "ValueError"
    assert read_span(events=[event]).error_type is None


KEYS = [
    *(
        "gen_ai.operation.name",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.call.arguments",
    ),
    *(
        "gen_ai.response.finish_reasons",
        "gen_ai.system_instructions",
        "gen_ai.tool.definitions",
        "gen_ai.tool.name",
    ),
    *("openinference.span.kind", "llm.input_messages.0.message.role", "llm.input_messages.0.message.content"),
    *("llm.output_messages.1.message.tool_calls.0.tool_call.function.name", "llm.tools.0.tool.json_schema"),
    *("input.value", "output.value", "tool.parameters", "traceloop.span.kind", "traceloop.entity.input"),
    *(
        "traceloop.entity.output",
        "gen_ai.prompt.0.content",
        "gen_ai.completion.0.tool_calls.0.name",
        "metadata",
    ),
    *(
        "ai.operationId",
        "ai.prompt",
        "ai.prompt.messages",
        "ai.response.toolCalls",
        "ai.response.providerMetadata",
    ),
    *(
        "gcp.vertex.agent.llm_request",
        "gcp.vertex.agent.llm_response",
        "pydantic_ai.all_messages",
        "agent_name",
    ),
    *(
        "final_result",
        "gen_ai.usage.input_tokens",
        "llm.cost.total",
        "tag.tags",
        "evalgate.trial",
        "session.id",
    ),
]
WORDS = st.sampled_from(
    [
        *(
            "chat",
            "execute_tool",
            "invoke_agent",
            "LLM",
            "TOOL",
            "AGENT",
            "workflow",
            "tool",
            "ai.generateText",
            "1",
        ),
        *(
            '{"a": 1}',
            "[]",
            "[{}]",
            "{",
            "",
            "x",
            '[{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]',
        ),
        *(
            '{"content": {"parts": [{"text": "x"}]}}',
            '{"input_str": "{}"}',
            '{"args": [], "kwargs": {}}',
            "role=",
        ),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**12) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "parts", "type", "content", "name", "id", "tool_calls"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(["gen_ai.choice", "gen_ai.user.message", "exception"]), VALUES), max_size=2),
)
def test_any_attributes_give_a_trace_or_a_reason(attributes, events):
    spans = [span("x", 0, 10, attributes=each) for each in attributes]
    spans[-1].parent_id = spans[0].span_id
    spans[0].events = [SpanEvent(name, None, {}, value) for name, value in events]
    try:
        trace = build(spans)
    except TraceError:
        return
    assert [call["index"] for call in trace.tool_calls] == list(range(len(trace.tool_calls)))
    assert trace.usage["total_tokens"] != 0


@given(st.integers(0, 3), st.sampled_from(KEYS), VALUES)
def test_damage_to_one_attribute_of_a_good_run_never_crashes(which, key, value):
    spans = weather_run()
    spans[which].attributes[key] = value
    try:
        build(spans)
    except TraceError:
        return


def test_agent_and_tool_builders_are_of_their_kind():
    assert [read_facts(one).kind for one in (agent(), tool("f"), chat())] == ["agent", "tool", "inference"]


def piece(*parts, reason=""):
    return genai_message("assistant", *parts, finish=reason)


def asks(call_id, name, arguments=None):
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def read_output(*messages):
    kept = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(messages)}
    found = read_span(**kept).output
    return [(one.content, [(call.name, call.arguments) for call in one.calls]) for one in found]


def test_pieces_of_a_streamed_answer_are_no_answers_beside_the_whole():
    """Google's ADK records every event of a stream, then the whole answer."""
    whole = piece("I look.", asks("c1", "look", {"path": "a"}), reason="stop")
    pieces = [piece("I "), piece("look."), piece(asks("c1", "look")), piece(asks("c1", "look", {}))]
    assert read_output(*pieces, whole) == [("I look.", [("look", {"path": "a"})])]
    assert read_output(piece(asks("c1", "look")), whole) == read_output(whole)


@pytest.mark.parametrize(
    "more",
    [
        piece(asks("c2", "delete")),
        piece(asks("c1", "delete")),
        piece(asks(None, "look")),
        piece(asks("c1", "look", {"path": "prod"})),
        piece("I delete."),
        piece(asks("c2", "delete"), reason="tool_calls"),
    ],
)
def test_what_the_whole_answer_lacks_is_kept(more):
    whole = piece("I look.", asks("c1", "look", {"path": "a"}), reason="stop")
    unfinished = piece("I look.", asks("c1", "look", {"path": "a"}))
    kept = [read_output(more, unfinished), read_output(more, whole)]
    assert len(kept[0]) == 2
    assert read_output(more)[0] in kept[1]
