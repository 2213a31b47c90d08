"""What spans don't record is a gap of the trace, and no call in them is dropped silently."""

from __future__ import annotations

import json

import pytest
from span_builders import agent, call_part, chat, genai_message, response_part, span, tool, weather_run

from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.spans.dialects.attributes import decode
from evalgate.errors import TraceError

QUESTION = genai_message("user", "Weather in Paris?")
ASKED = genai_message("assistant", call_part("get_weather", "c1", city="Paris"))
ANSWER = genai_message("assistant", "It rains.")


def gaps(*spans):
    return dict(build(list(spans)).gaps)


def test_a_run_with_content_has_no_gap():
    assert gaps(*weather_run()) == {}


def test_a_model_call_without_content_may_have_asked_for_any_tool():
    root = agent()
    found = gaps(root, chat(parent=root, **{"gen_ai.response.finish_reasons": ["stop"]}))
    assert set(found) == {"calls", "messages"}
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in found["calls"]


@pytest.mark.parametrize(
    ("attributes", "setting"),
    [
        ({"llm.request.type": "chat"}, "TRACELOOP_TRACE_CONTENT"),
        ({"openinference.span.kind": "LLM", "llm.model_name": "m"}, "OPENINFERENCE_HIDE_OUTPUTS"),
        ({"langsmith.span.kind": "llm"}, "LANGSMITH_HIDE_OUTPUTS"),
        ({"ai.operationId": "ai.generateText.doGenerate"}, "recordOutputs"),
        ({"langfuse.observation.type": "generation"}, "record input and output"),
        ({"mlflow.spanType": '"LLM"'}, "inputs and outputs"),
        ({"gcp.vertex.agent.llm_request": "<not serializable>"}, "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS"),
        (
            {"gcp.vertex.agent.event_id": "e-1", "gen_ai.operation.name": "generate_content"},
            "set OTEL_INSTRUMENTATION_GENAI_CAPTURE",
        ),
    ],
)
def test_the_gap_names_the_setting_of_the_tracer(attributes, setting):
    assert setting in gaps(span("llm", attributes=attributes))["calls"]


def test_the_scope_of_the_tracer_names_its_setting():
    request = chat()
    request.scope = "com.anthropic.sdk.python"
    assert "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE" in gaps(request)["calls"]


def test_one_unknown_output_among_others_is_a_gap():
    root = agent()
    first = chat(0, 10, parent=root, given=[QUESTION])
    last = chat(20, 30, parent=root, given=[QUESTION], answered=[ANSWER])
    assert gaps(root, first, last)["calls"].startswith("the output of 1 of 2 model calls is not recorded")


def test_a_failed_model_call_has_no_output_to_record():
    root = agent()
    first = chat(0, 10, parent=root, given=[QUESTION])
    first.has_failed = True
    assert gaps(root, first, chat(20, 30, parent=root, given=[QUESTION], answered=[ANSWER])) == {}


def test_a_later_request_that_repeats_the_call_is_evidence():
    root = agent()
    history = [QUESTION, ASKED, genai_message("tool", response_part("rainy", "c1"))]
    first = chat(0, 10, parent=root, given=[QUESTION])
    last = chat(20, 30, parent=root, given=history, answered=[ANSWER])
    trace = build([root, first, last])
    assert trace.gaps == {}
    assert [call["name"] for call in trace.tool_calls] == ["get_weather"]


def test_tools_that_ran_after_a_model_call_are_evidence():
    root = agent()
    spans = [chat(0, 10, parent=root), tool("a", 11, 12, parent=root, arguments={"x": 1}, result="1")]
    assert "calls" not in gaps(root, *spans, chat(20, 30, parent=root))
    assert "calls" in gaps(root, spans[0], chat(15, 18, parent=root), chat(20, 30, parent=root))


def test_tools_of_another_tracer_are_no_evidence():
    root = agent()
    run = tool("a", 11, 12, parent=root, arguments={"x": 1}, result="1")
    run.scope = "mcp"
    assert "calls" in gaps(root, chat(0, 10, parent=root), run, chat(20, 30, parent=root))


def test_a_model_call_that_asked_for_tools_that_are_not_recorded_is_a_gap():
    answered = chat(answered=[ANSWER], **{"gen_ai.response.finish_reasons": ["tool_calls"]})
    assert "asked for tools" in gaps(answered)["calls"]


def test_empty_text_is_a_known_answer():
    assert gaps(chat(given=[QUESTION], answered=[genai_message("assistant", "")])) == {}


def test_question_and_answer_of_an_agent_are_no_evidence_of_its_calls():
    assert "calls" in gaps(agent(**{"gen_ai.output.messages": json.dumps([ANSWER])}))
    whole = {"pydantic_ai.all_messages": json.dumps([QUESTION, ANSWER]), "agent_name": "helper"}
    assert gaps(agent(**whole)) == {}


def test_a_tool_without_a_name_is_a_gap():
    request = chat(given=[QUESTION], answered=[ANSWER])
    assert "run it" in gaps(request, span("run it", attributes={"openinference.span.kind": "TOOL"}))["calls"]


def test_tools_without_content_lack_arguments_and_results():
    found = gaps(*(root := [agent()]), tool("a", 1, 2, parent=root[0]))
    assert set(found) == {"arguments", "results"}
    assert set(gaps(*root, tool("a", 1, 2, parent=root[0], arguments={"x": 1}))) == {"results"}
    assert gaps(*root, tool("a", 1, 2, parent=root[0], result="1")) == {}


CALL = {"name": "delete_user", "arguments": {"id": 7}}


@pytest.mark.parametrize(
    "attributes",
    [
        {"app.answer": json.dumps({"toolUse": CALL})},
        {"app.answer": {"steps": [CALL]}},
        {"app.answer": {"text": json.dumps({"tool_calls": [CALL]})}},
        {"app.answer": str([CALL])},
        {"app.toolCalls": json.dumps([CALL])},
        {"app.tool_calls.0.function.name": "delete_user"},
    ],
)
@pytest.mark.parametrize("place", ["attribute", "event", "body"])
def test_a_call_that_no_dialect_reads_is_an_error(attributes, place):
    spans = weather_run()
    if place == "attribute":
        spans[1].attributes.update(attributes)
    else:
        from evalgate.adapters.formats.spans.span import SpanEvent

        key, value = next(iter(attributes.items()))
        if place == "body" and "." in key.removeprefix("app."):
            pytest.skip("a body has no flattened keys")
        named = {key.removeprefix("app."): decode(value)}
        event = SpanEvent("note", None, attributes) if place == "event" else SpanEvent("note", None, {}, named)
        spans[1].events.append(event)
    if place == "body" and isinstance(attributes.get("app.answer"), str) and "'" in attributes["app.answer"]:
        pytest.skip("Python text within a body is text")
    with pytest.raises(TraceError, match="delete_user"):
        build(spans)


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.tool.definitions": json.dumps([{**CALL, "parameters": {"type": "object"}}])},
        {"llm.tools.0.tool.json_schema": json.dumps({"name": "delete_user", "parameters": {"properties": {}}})},
        {"llm.invocation_parameters": json.dumps({"tools": [{"name": "delete_user", "input_schema": {}}]})},
        {"app.answer": json.dumps({"name": "get_weather", "arguments": {"city": "Paris"}})},
        {"app.answer": '{"name": "delete_user", "arguments": '},
        {"app.list": json.dumps([{"name": "Mia", "city": "Rome"}])},
    ],
)
def test_definitions_and_known_calls_are_no_unread_calls(attributes):
    spans = weather_run()
    spans[1].attributes.update(attributes)
    assert build(spans).gaps == {}


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.tool.name": "delete_user"},
        {"openinference.span.kind": "MODEL"},
        {"gen_ai.operation.name": "converse", "gen_ai.output.messages": "[]"},
    ],
)
def test_a_span_that_may_be_a_call_is_a_gap(attributes):
    assert "step" in gaps(*weather_run(), span("step", attributes=attributes))["calls"]


def test_excluded_spans_are_not_searched():
    judge = span("judge", attributes={"evalgate.role": "judge", "answer": json.dumps({"toolUse": CALL})})
    assert gaps(*weather_run(), judge) == {}


def test_the_search_is_bounded():
    spans = weather_run()
    filler = json.dumps({"person": {"name": "Mia"}, "args": "x" * 33_000_000})
    spans[1].attributes.update({"a": filler, "b": filler.replace("Mia", "Ida")})
    assert "too much text" in gaps(*spans)["calls"]


def test_a_body_that_is_no_object_is_no_problem():
    spans = weather_run()
    spans[1].attributes["x"] = {"role": [], "type": {}, "content": [[]]}
    assert gaps(*spans) == {}


def test_an_unknown_field_of_a_span_is_a_gap():
    root = agent()
    root.unknown_fields = ("my_attributes",)
    found = gaps(root, chat(parent=root, given=[QUESTION], answered=[ANSWER]))
    assert "my_attributes` may hold calls" in found["calls"]


def test_a_sub_agent_that_holds_nothing_is_a_gap():
    root = agent()
    request = chat(parent=root, given=[QUESTION], answered=[ANSWER])
    silent = [agent(name=name, parent=root) for name in ("helper", "flights")]
    found = gaps(root, request, *silent)["calls"]
    assert found.startswith("nothing is recorded of what the agent `helper`, `flights` did: record its model calls")


def test_a_tool_that_only_the_models_code_calls_is_a_gap():
    root = agent(**{"smolagents.tools_names": ["search", "final_answer"]})
    code = genai_message("assistant", "<code>search(query='x')</code>")
    found = gaps(root, chat(parent=root, given=[QUESTION], answered=[code]))
    assert found["calls"] == "the model's code calls `search`, but no tool's span records it"


@pytest.mark.parametrize("key", ["my_agent.tool.name", "my_agent.toolName", "step.tool_name"])
def test_an_unknown_attribute_with_a_tools_name_is_a_gap(key):
    root = agent()
    assert key in gaps(root, chat(parent=root, given=[QUESTION], answered=[ANSWER], **{key: "delete_user"}))["calls"]


def test_messages_that_can_not_be_read_are_a_gap():
    root = agent(**{"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "te'})
    assert "gen_ai.input.messages" in gaps(root, chat(parent=root, answered=[ANSWER]))["calls"]
