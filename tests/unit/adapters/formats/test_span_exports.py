"""Spans as Phoenix, MLflow and LangSmith's SDK export them."""

from __future__ import annotations

import json

from span_builders import BEGIN, MS, chat, span

from evalgate.adapters.formats.open.detect import find_claiming_format
from evalgate.adapters.formats.opentelemetry.reader import SPAN_LIST_READER as READER
from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.spans.dialects.platforms import clear_parents
from evalgate.adapters.formats.spans.span import SpanFile
from evalgate.adapters.formats.spans.span_records import runs_from_file

TRACE = "5c" * 16
USER = {"message.role": "user", "message.content": "Weather in Paris?"}
CALL = {
    "tool_call.id": "c1",
    "tool_call.function.name": "get_weather",
    "tool_call.function.arguments": '{"city": "Paris"}',
}
MESSAGES = {
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Weather in Paris?",
    "llm.output_messages.0.message.role": "assistant",
    **{f"llm.output_messages.0.message.tool_calls.0.{key}": value for key, value in CALL.items()},
}


def read(*documents):
    return [READER.build(record) for record in READER.split(list(documents))]


def phoenix_span(kind, span_id, parent=None, second=0, **attributes):
    """A span of Phoenix's REST interface, which has its kind outside of the attributes."""
    return {
        "id": f"U3Bhbjo{span_id}",
        "name": kind.lower(),
        "context": {"trace_id": TRACE, "span_id": span_id},
        "span_kind": kind,
        "parent_id": parent,
        "start_time": f"2026-11-01T10:00:0{second}+00:00",
        "end_time": f"2026-11-01T10:00:0{second + 1}+00:00",
        "status_code": "OK",
        "status_message": "",
        "attributes": attributes,
        "events": [],
    }


def phoenix_page(next_cursor=None):
    tokens = {"llm.model_name": "gpt-4o", "llm.token_count.prompt": 12, "llm.token_count.completion": 7}
    return {
        "data": [
            phoenix_span("TOOL", "0000000000000003", "0000000000000001", 3, **{"tool.name": "get_weather"}),
            phoenix_span("LLM", "0000000000000002", "0000000000000001", 1, **MESSAGES, **tokens),
            phoenix_span("AGENT", "0000000000000001", None, 0, **{"input.value": "Weather in Paris?"}),
        ],
        "next_cursor": next_cursor,
    }


def names(trace):
    return [(call["name"], call["arguments"]) for call in trace.tool_calls]


def test_a_page_of_phoenix_is_a_list_of_spans():
    page = phoenix_page()
    assert find_claiming_format(page).name == "span-list"
    (trace,) = read(page)
    assert names(trace) == [("get_weather", {"city": "Paris"})]
    assert (trace.model, trace.usage["total_tokens"], "calls" in trace.gaps) == ("gpt-4o", 19, False)


def test_a_page_that_is_not_the_last_lacks_spans():
    (trace,) = read(phoenix_page("U3BhbjoxMDA="))
    assert "next_cursor" in trace.gaps["calls"]
    first, second = phoenix_page("U3BhbjoxMDA="), phoenix_page()
    first["data"], second["data"] = first["data"][:1], second["data"][1:]
    (trace,) = read(first, second)
    assert "calls" not in trace.gaps


def row(**more):
    """A line of Phoenix's data frame: empty columns are null, whole numbers are floats, lists hold objects."""
    return {
        "context.trace_id": TRACE,
        "context.span_id": "0000000000000002",
        "name": "llm",
        "span_kind": "LLM",
        "parent_id": None,
        "start_time": BEGIN // MS,
        "end_time": BEGIN // MS + 1500,
        "status_code": "OK",
        "events": [],
        "attributes.llm.model_name": "gpt-4o",
        "attributes.llm.token_count.prompt": 12.0,
        "attributes.llm.token_count.completion": 7.0,
        "attributes.llm.token_count.prompt_details.cache_read": None,
        "attributes.llm.input_messages": [USER],
        "attributes.metadata": {"evalgate.scenario.id": "paris"},
        **more,
    }


def test_a_line_of_a_data_frame_is_a_span():
    flat = row(**{"attributes.llm.output_messages": [{"message.role": "assistant", "message.tool_calls": [CALL]}]})
    nested_call = {"tool_call": {"id": "c1", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}}
    nested = row(
        **{"attributes.llm.output_messages": [{"message": {"role": "assistant", "tool_calls": [nested_call]}}]}
    )
    for line in (flat, nested):
        assert find_claiming_format(line).name == "span-list"
        (trace,) = read(line)
        assert names(trace) == [("get_weather", {"city": "Paris"})]
        assert (trace.scenario_id, trace.usage["total_tokens"], trace.latency["total_ms"]) == ("paris", 19, 1500)
        assert trace.gaps == {}


def test_nested_attributes_are_read_as_flat_ones():
    nested = phoenix_span("LLM", "0000000000000002", llm={"output_messages": [{"message": {"role": "assistant"}}]})
    nested["attributes"]["llm"]["output_messages"][0]["message"]["tool_calls"] = [
        {"tool_call": {"function": {"name": "get_weather", "arguments": "{}"}}}
    ]
    (trace,) = read([nested])
    assert names(trace) == [("get_weather", {})]


def mlflow_trace(kind="CHAIN", **metadata):
    """A trace of MLflow: tokens and cost of the whole are JSON text in its metadata."""
    attributes = {"mlflow.spanType": kind, "mlflow.spanInputs": "Weather?", "mlflow.spanOutputs": "It rains."}
    return {
        "info": {"trace_id": "tr-1", "trace_metadata": metadata, "tags": {"evalgate.scenario.id": "paris"}},
        "data": {
            "spans": [
                {
                    "trace_id": "XFxcXFxcXFxcXFxcXFxcXA==",
                    "span_id": "XFxcXFxcXFw=",
                    "parent_span_id": None,
                    "name": "answer",
                    "start_time_unix_nano": BEGIN,
                    "end_time_unix_nano": BEGIN + 9 * MS,
                    "status": {"code": "STATUS_CODE_OK", "message": ""},
                    "attributes": {key: json.dumps(value) for key, value in attributes.items()},
                    "events": [],
                }
            ]
        },
    }


TOTALS = {
    "mlflow.trace.tokenUsage": json.dumps({"input_tokens": 30, "output_tokens": 4, "total_tokens": 34}),
    "mlflow.trace.cost": json.dumps({"input_cost": 0.01, "output_cost": 0.02, "total_cost": 0.03}),
}


def test_tokens_and_cost_of_an_mlflow_trace_are_those_of_the_run():
    for kind in ("AGENT", "CHAIN", "CHAT_MODEL"):
        (trace,) = read(mlflow_trace(kind, **TOTALS))
        assert (trace.usage["total_tokens"], trace.cost["usd"], trace.scenario_id) == (34, 0.03, "paris")
    assert trace.response["content"] == "It rains."


def test_traces_of_mlflow_in_one_list_have_their_own_tokens():
    other = mlflow_trace("AGENT", **{**TOTALS, "mlflow.trace.tokenUsage": '{"total_tokens": 5}'})
    other["data"]["spans"][0]["trace_id"] = "6767676767676767"
    found = read([mlflow_trace("AGENT", **TOTALS), other])
    assert [trace.usage["total_tokens"] for trace in found] == [34, 5]


def test_the_tokens_of_model_calls_are_not_added_to_those_of_the_trace():
    document = mlflow_trace("AGENT", **TOTALS)
    inner = {**document["data"]["spans"][0], "span_id": "Z2dnZ2dnZ2c=", "parent_span_id": "XFxcXFxcXFw="}
    usage = json.dumps({"input_tokens": 30, "output_tokens": 4, "total_tokens": 34})
    inner["attributes"] = {**inner["attributes"], "mlflow.spanType": '"LLM"', "mlflow.chat.tokenUsage": usage}
    document["data"]["spans"].append(inner)
    (trace,) = read(document)
    assert trace.usage["total_tokens"] == 34


def langsmith_span(kind, name, times, inputs, outputs, parent=None, **more):
    """A run of LangSmith's SDK as a span: inputs and outputs are JSON text in two attributes."""
    operation = {"llm": "chat", "tool": "execute_tool", "prompt": "chat"}.get(kind, kind)
    recorded = {"langsmith.span.kind": kind, "gen_ai.operation.name": operation, "gen_ai.system": "langchain"}
    recorded |= {"gen_ai.prompt": json.dumps(inputs), "gen_ai.completion": json.dumps(outputs), **more}
    return span(name, *times, parent=parent, attributes=recorded)


def langsmith_run():
    question = {"role": "user", "content": "Weather in Paris?"}
    function = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    tags = {"langsmith.span.tags": "mood:calm, v2", "langsmith.metadata.thread_id": "t9"}
    root = langsmith_span(
        "chain", "helper", (0, 900), {"question": "Weather in Paris?"}, {"output": "It rains."}, **tags
    )
    root.parent_id = "feedfeedfeedfeed"
    usage = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5, "gen_ai.request.model": "gpt-4o"}
    answer = {"choices": [{"finish_reason": "tool_calls", "message": asked}]}
    prompt = langsmith_span("prompt", "template", (5, 9), {"q": 1}, {"output": "Weather in Paris?"}, root)
    first = langsmith_span("llm", "model", (10, 90), {"messages": [question]}, answer, root, **usage)
    ran = langsmith_span(
        "tool",
        "get_weather",
        (100, 120),
        {"input": "{'city': 'Paris'}"},
        {"output": "rainy"},
        root,
        **{"gen_ai.tool.name": "get_weather"},
    )
    result = {"role": "tool", "tool_call_id": "c1", "content": "rainy"}
    final = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "It rains."}}]}
    last = langsmith_span("llm", "model", (130, 800), {"messages": [question, asked, result]}, final, root, **usage)
    return [root, prompt, first, ran, last]


def test_runs_of_langsmiths_sdk_are_read_with_their_content():
    trace = build(clear_parents(langsmith_run()))
    assert names(trace) == [("get_weather", {"city": "Paris"})]
    assert trace.tool_calls[0]["result"] == "rainy"
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert (trace.agent["name"], trace.conversation_id, trace.tags) == ("helper", "t9", ["mood:calm", "v2"])
    assert (trace.usage["total_tokens"], len(trace.llm_calls), trace.finish_reason) == (30, 2, "stop")
    assert trace.gaps == {}


def test_the_root_of_langsmiths_sdk_has_an_invented_parent():
    (run,) = runs_from_file(SpanFile(spans=langsmith_run()))
    assert run.spans[0].parent_id is None
    other = chat()
    other.parent_id = "feedfeedfeedfeed"
    assert clear_parents([other])[0].parent_id == "feedfeedfeedfeed"


def test_generations_of_langchain_in_langsmiths_spans_name_the_model_that_answered():
    def generation(content, calls, reason):
        fields = {"content": content, "type": "ai", "tool_calls": calls, "invalid_tool_calls": []}
        fields["response_metadata"] = {"model_name": "small-1-2026", "finish_reason": reason}
        message = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]}
        return {
            "generations": [[{"text": content, "type": "ChatGeneration", "message": {**message, "kwargs": fields}}]]
        }

    def human(content):
        kwargs = {"content": content, "type": "human"}
        return {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "HumanMessage"],
            "kwargs": kwargs,
        }

    call = {"name": "get_weather", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}
    given = {"messages": [[human("Weather in Paris?")]]}
    root = langsmith_span("chain", "LangGraph", (0, 900), {"messages": []}, {"messages": []})
    model = langsmith_span("llm", "ChatModel", (10, 90), given, generation("Let me see.", [call], "tool_calls"), root)
    model.attributes["gen_ai.request.model"] = "small-1"
    answer = {"content": "rainy", "type": "tool", "name": "get_weather", "tool_call_id": "c1", "status": "error"}
    ran = langsmith_span("tool", "get_weather", (100, 120), {"city": "Paris"}, {"output": answer}, root)
    ran.attributes |= {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "c1"}
    trace = build(clear_parents([root, model, ran]))
    assert [one["content"] for one in trace.messages[:2]] == ["Weather in Paris?", "Let me see."]
    assert (trace.llm_calls[0]["model"], trace.llm_calls[0]["finish_reason"]) == ("small-1-2026", "tool_calls")
    (recorded,) = trace.tool_calls
    assert (recorded["arguments"], recorded["result_text"], recorded["status"]) == ({"city": "Paris"}, "rainy", "error")


def test_finish_reasons_of_openinference_and_of_anthropics_sdk_are_read():
    for name, value, reason in (
        ("llm.finish_reason", "tool_calls", "tool_calls"),
        ("anthropic.message.stop_reason", "end_turn", "stop"),
    ):
        trace = build([chat(**{name: value})])
        assert trace.llm_calls[0]["finish_reason"] == reason


def test_calls_among_the_content_blocks_of_openinference_count_once():
    answer = "llm.output_messages.0.message."
    listed = {f"{answer}tool_calls.0.{key}": value for key, value in CALL.items()}
    blocks = {f"{answer}contents.1.{key}": value for key, value in CALL.items()}
    other = {f"{answer}contents.2.{key}": value for key, value in {**CALL, "tool_call.id": "c2"}.items()}
    kinds = {f"{answer}contents.{number}.message_content.type": "tool_use" for number in (1, 2)}
    text = {
        f"{answer}role": "assistant",
        f"{answer}contents.0.message_content.type": "text",
        f"{answer}contents.0.message_content.text": "I look.",
    }
    trace = build(
        [span("m", attributes={"openinference.span.kind": "LLM", **text, **listed, **blocks, **other, **kinds})]
    )
    assert [call["id"] for call in trace.tool_calls] == ["c1", "c2"]
    assert trace.messages[0]["content"] == "I look."
    assert "calls" not in trace.gaps
