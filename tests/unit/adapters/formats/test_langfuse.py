from __future__ import annotations

import json

import pytest
from damage import damage_document
from hypothesis import given

from evalgate.adapters.formats.langfuse import LANGFUSE, reader
from evalgate.errors import TraceError

ASKED = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}
USER = {"role": "user", "content": "Find x."}
CALLED = {"role": "assistant", "content": "", "tool_calls": [ASKED]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "found"}


def row(row_id, kind, begin, end, parent="root", **fields):
    return {
        "id": row_id,
        "traceId": "t1",
        "parentObservationId": parent,
        "type": kind,
        "name": row_id,
        "startTime": f"2026-11-20T22:41:{begin:02d}.000Z",
        "endTime": f"2026-11-20T22:41:{end:02d}.000Z",
        "level": "DEFAULT",
        "statusMessage": "",
        "model": None,
        "usageDetails": {},
        "costDetails": {},
        "providedCostDetails": {},
        "input": None,
        "output": None,
        "metadata": "{}",
        **fields,
    }


def generation(row_id, begin, end, given, gave, usage=None, *, attributes=None, parent="root", **fields):
    return row(
        row_id,
        "GENERATION",
        begin,
        end,
        parent,
        **{
            "model": "gpt-5-mini",
            "input": json.dumps(given),
            "output": json.dumps(gave),
            "usageDetails": usage or {},
            "metadata": json.dumps({"attributes": attributes} if attributes else {}),
            **fields,
        },
    )


def tokens(tokens_in, tokens_out, **details):
    return {"input": tokens_in, "output": tokens_out, "total": tokens_in + tokens_out, **details}


HEAD = {
    "id": "t1",
    "name": "Helper",
    "timestamp": "2026-11-20T22:41:00.000Z",
    "sessionId": "chat-7",
    "tags": ["nightly"],
    "latency": 9.5,
    "release": "v2",
    "input": '{"messages": [{"role": "user", "content": "Find x."}]}',
    "output": "Here is x.",
    "metadata": json.dumps(
        {
            "team": "blue",
            "evalgate.scenario.id": "find",
            "attributes": {"a": 1},
            "resourceAttributes": {"host.name": "secret"},
            "scope": {"attributes": {"public_key": "pk"}},
        }
    ),
    "scores": [
        {"name": "toxicity", "value": 0.8, "comment": "rude", "stringValue": None, "observationId": None},
        {"name": "tone", "value": 1, "stringValue": "friendly", "observationId": "g2"},
    ],
}
ROWS = [
    generation("g2", 7, 8, [USER, CALLED, RESULT], {"role": "assistant", "content": "Here is x."}, tokens(200, 20)),
    row("find", "TOOL", 4, 6, input='{"q":"x"}', output="found"),
    generation("g1", 1, 3, [USER], CALLED, tokens(100, 10), costDetails={"total": 0.0001}),
    row("root", "AGENT", 0, 9, None, name="Helper agent"),
]
WHOLE = {"trace": HEAD, "observations": ROWS}


def build(rows, **head):
    (record,) = reader.split([{"trace": {**HEAD, **head}, "observations": rows}])
    return reader.build(record)


def figures(trace):
    return tuple(trace.usage[key] for key in ("input_tokens", "output_tokens", "total_tokens"))


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_observations_in_any_order_are_one_conversation():
    trace = build(ROWS)
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Find x."),
        ("assistant", ""),
        ("tool", "found"),
        ("assistant", "Here is x."),
    ]
    assert trace == build(list(reversed(ROWS)))


def test_a_tool_observation_and_its_messages_are_one_call():
    (call,) = build(ROWS).tool_calls
    assert (call["id"], call["name"], call["arguments"]) == ("c1", "find", {"q": "x"})
    assert (call["result_text"], call["duration_ms"], call["status"]) == ("found", 2000, "ok")


def test_the_trace_has_session_tags_latency_and_scenario():
    trace = build(ROWS)
    assert (trace.trace_id, trace.name, trace.conversation_id) == ("t1", "Helper", "chat-7")
    assert (trace.tags, trace.scenario_id) == (["nightly"], "find")
    assert trace.latency["total_ms"] == 9000
    assert trace.agent["name"] == "Helper agent"


def test_metadata_is_what_people_wrote_and_not_what_tracers_did():
    assert build(ROWS).metadata == {"team": "blue", "evalgate.scenario.id": "find", "release": "v2"}


def test_the_item_of_a_data_set_names_the_scenario_if_nothing_else_does():
    assert build(ROWS, metadata={"dataset_item_id": "item-3"}).scenario_id == "item-3"
    assert build(ROWS, metadata={"dataset_item_id": "item-3", "scenario_id": "find"}).scenario_id == "find"


def test_scores_are_evaluations_with_what_they_are_of():
    assert [(e["name"], e["score_value"], e["score_label"], e["source"]) for e in build(ROWS).evaluations] == [
        ("toxicity", 0.8, None, None),
        ("tone", 1.0, "friendly", "observation g2"),
    ]


@pytest.mark.parametrize("written", [lambda value: value, json.dumps, repr], ids=["value", "json", "python"])
def test_input_and_output_are_read_however_they_were_kept(written):
    given, gave = written({"messages": [USER]}), written({"role": "assistant", "content": "Hello"})
    trace = build([row("g", "GENERATION", 0, 1, None, input=given, output=gave)])
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Find x."),
        ("assistant", "Hello"),
    ]


def test_tokens_of_a_row_without_attributes_are_accepted():
    trace = build(ROWS)
    assert figures(trace) == (300, 30, 330)


def test_tokens_that_langfuse_estimated_are_left_out_with_a_warning():
    rows = [
        generation(
            "g",
            0,
            1,
            [USER],
            "Hi",
            tokens(44, 18),
            attributes={"gen_ai.operation.name": "chat"},
            totalCost=0.1,
        )
    ]
    trace = build(rows)
    assert figures(trace) == (None, None, None)
    assert trace.cost == {"usd": None, "source": "unknown"}
    assert "estimated_usage" in codes(trace)


def test_tokens_in_the_answer_of_the_provider_take_precedence_over_those_of_langfuse():
    answer = {
        "id": "chatcmpl-1",
        "model": "gpt-4o-mini-2024",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}],
        "usage": {"prompt_tokens": 163, "completion_tokens": 20, "total_tokens": 183},
    }
    attributes = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o-mini"}
    outer = generation(
        "outer",
        0,
        4,
        [USER],
        answer,
        tokens(542, 235),
        attributes=attributes,
        parent=None,
        totalCost=0.0002223,
    )
    inner = generation(
        "inner",
        1,
        3,
        "user: Find x.",
        "Hi",
        tokens(163, 20),
        parent="outer",
        providedCostDetails={"total": 3.6e-05},
    )
    trace = build([outer, inner])
    assert figures(trace) == (163, 20, 183)
    assert trace.cost == {"usd": 3.6e-05, "source": "recorded"}
    assert [(call["response_id"], call["model"]) for call in trace.llm_calls] == [("chatcmpl-1", "gpt-4o-mini-2024")]
    assert [m["content"] for m in trace.messages] == ["Find x.", "Hi"]


def test_tokens_the_tracer_recorded_take_precedence_over_those_of_langfuse():
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": "62",
        "gen_ai.usage.output_tokens": "85",
    }
    trace = build([generation("g", 0, 1, [USER], "Hi", tokens(14, 43), attributes=attributes, totalCost=0.0004)])
    assert figures(trace) == (62, 85, 147)
    assert trace.cost["usd"] is None


def test_an_agent_whose_tokens_langfuse_made_adds_nothing():
    agent = row(
        "root",
        "AGENT",
        0,
        9,
        None,
        usageDetails=tokens(44, 180),
        metadata=json.dumps({"attributes": {"gen_ai.operation.name": "invoke_agent"}}),
    )
    trace = build([*ROWS[:-1], agent])
    assert figures(trace) == (300, 30, 330)
    assert "total_mismatch" not in codes(trace)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"input": 179, "output": 35, "total": 278, "input_cache_read": 0, "output_reasoning": 64},
            (179, 99, 278),
        ),
        ({"input": 60, "output": 35, "total": 159, "input_cache_read": 64}, (124, 35, 159)),
        ({"input": 190, "output": 164, "total": 354, "prompt_details.cache_read": 128}, (190, 164, 354)),
    ],
    ids=["reasoning beside output", "cache beside input", "cache within input"],
)
def test_details_are_added_only_if_the_total_requires_it(usage, expected):
    trace = build([generation("g", 0, 1, [USER], "Hi", usage)])
    assert figures(trace) == expected


def test_cache_and_reasoning_tokens_are_read():
    usage = {"input": 60, "output": 35, "total": 223, "input_cache_read": 64, "output_reasoning": 64}
    found = build([generation("g", 0, 1, [USER], "Hi", usage)]).usage
    assert (found["cache_read_input_tokens"], found["reasoning_output_tokens"]) == (64, 64)


def test_output_of_0_tokens_is_unknown():
    trace = build([generation("g", 0, 1, [USER], "Hi", {"input": 1195, "output": 0, "total": 1195})])
    assert figures(trace)[:2] == (1195, None)


def test_a_cost_of_0_beside_tokens_is_unknown():
    trace = build([generation("g", 0, 1, [USER], "Hi", tokens(5, 5), totalCost=0)])
    assert trace.cost["usd"] is None
    assert "zero_cost" in codes(trace)


def test_costs_of_some_calls_only_are_partial():
    trace = build(ROWS)
    assert trace.cost == {"usd": None, "source": "partial", "known_usd": 0.0001}


def test_observations_alone_describe_their_trace():
    fields = {"traceName": "Helper", "sessionId": "chat-7", "tags": ["nightly"], "model": None}
    rows = [{**one, **fields, "providedModelName": "claude-x"} for one in ROWS]
    (record,) = reader.split([{"data": rows, "meta": {}}])
    trace = reader.build(record)
    assert (trace.name, trace.conversation_id, trace.tags) == ("Helper", "chat-7", ["nightly"])
    assert (trace.model, len(trace.llm_calls)) == ("claude-x", 2)


def test_a_provided_cost_of_0_with_a_computed_cost_is_ignored():
    costs = {"providedCostDetails": {"total": 0}, "costDetails": {"total": 0.004}}
    assert build([generation("g", 0, 1, [USER], "Hi", tokens(5, 5), **costs)]).cost["usd"] == 0.004


def test_tokens_may_be_in_separate_columns():
    columns = {"inputUsage": 12, "outputUsage": 3, "totalUsage": 15, "totalCost": 0.001}
    observation = generation("g", 0, 1, [USER], "Hi", **columns)
    for key in ("usageDetails", "costDetails", "providedCostDetails"):
        del observation[key]
    trace = build([observation])
    assert (figures(trace), trace.cost["usd"]) == ((12, 3, 15), 0.001)


def test_tools_that_a_callback_writes_as_messages_are_definitions():
    function = {"name": "find", "description": "Finds.", "parameters": {"type": "object"}}
    definition = {"role": "tool", "content": {"type": "function", "function": function}}
    trace = build([generation("g", 0, 1, [USER, CALLED, RESULT, definition], "Here is x.", tokens(5, 5))])
    assert [message["role"] for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.tool_definitions == [{**function, "type": "function"}]
    assert codes(trace) == []


@pytest.mark.parametrize(
    ("output", "answer"), [("Here is x.", "Here is x."), ('{"quality": "good"}', '{"quality":"good"}')]
)
def test_where_a_tool_took_the_answer_the_traces_own_output_is_the_response(output, answer):
    final = {"role": "assistant", "content": None, "tool_calls": [ASKED]}
    response = build([generation("g", 0, 1, [USER], final, tokens(5, 5))], output=output).response
    assert (response["content"], response["message_index"]) == (answer, None)


def test_a_run_requested_by_another_program_has_a_root():
    root = row("helper", "SPAN", 0, 9, "elsewhere")
    trace = build([root, generation("g", 1, 8, [USER], "Hi", tokens(5, 5), parent="helper")])
    assert (trace.agent["name"], trace.latency["total_ms"]) == ("helper", 9000)


def test_a_span_that_gives_a_tools_message_is_that_tool():
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain_core", "messages", "ToolMessage"],
        "kwargs": {"content": "found", "tool_call_id": "c1", "name": "find", "status": "success"},
    }
    tool = row("find", "SPAN", 4, 6, input='{"q":"x"}', output=json.dumps(message))
    around = row("tools", "SPAN", 4, 6, input="{}", output=json.dumps({"messages": [message]}))
    (call,) = build([ROWS[0], tool, around, *ROWS[2:]]).tool_calls
    assert (call["id"], call["duration_ms"]) == ("c1", 2000)


def test_instructions_that_an_answer_repeats_are_not_a_message():
    answer = {
        "id": "resp_1",
        "object": "response",
        "instructions": "Be brief.",
        "model": "gpt-5",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}],
    }
    trace = build([generation("g", 0, 1, [USER], answer)])
    assert trace.system_instructions == "Be brief."
    assert [m["role"] for m in trace.messages if m["role"] != "system"] == ["user", "assistant"]
    assert trace.response["content"] == "Hi"


def event(name, second, attributes, kind="SPAN", parent="root", **fields):
    metadata = {"attributes": attributes, "scope": {"name": "openinference.instrumentation.beeai"}}
    return row(name, kind, second, 9, parent, metadata=json.dumps(metadata), **fields)


def test_events_that_are_also_spans_are_one_call_each():
    tool = {"openinference.span.kind": "TOOL", "tool.parameters": '{"q": "x"}'}
    step = {"openinference.span.kind": "AGENT", "tool.name": "Search", "tool.parameters": '{"q": "x"}'}
    model = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o-mini"}
    trace = build(
        [
            event(
                "main",
                0,
                {"openinference.span.kind": "AGENT"},
                "SPAN",
                None,
                output="{'role': 'assistant', 'text': 'Done.'}",
            ),
            event("chat.start-1", 1, model, "GENERATION", "main", model="gpt-4o-mini", input=json.dumps([USER])),
            event("chat.success-1", 2, model, "GENERATION", "main", model="gpt-4o-mini"),
            event("react.update-1", 3, {**step, "tool.parameters": "null"}, parent="main"),
            event("tool.search.start-1", 4, tool, parent="main"),
            event("tool.search.success-1", 5, {**tool, "output.value": "found"}, parent="main", output="found"),
            event("react.partial_update-2", 6, {**step, "output.value": "found"}, parent="main", output="found"),
        ]
    )
    assert [(call["name"], call["arguments"], call["result_text"]) for call in trace.tool_calls] == [
        ("Search", {"q": "x"}, "found")
    ]
    assert len(trace.llm_calls) == 1
    assert trace.response["content"] == "Done."


def test_a_failed_tool_observation_is_an_error_and_says_why():
    failed = row("find", "TOOL", 4, 6, input='{"q":"x"}', level="ERROR", statusMessage="no x")
    (call,) = build([failed]).tool_calls
    assert (call["status"], call["error"]["message"]) == ("error", "no x")


def test_without_generations_the_traces_own_input_and_output_are_read():
    trace = build([row("root", "SPAN", 0, 1, None)])
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Find x."),
        ("assistant", "Here is x."),
    ]


@pytest.mark.parametrize(
    "document",
    [
        {**HEAD, "observations": ROWS},
        [WHOLE],
        {"data": [WHOLE]},
        {"trace": {**HEAD, "observations": ROWS}, "observations": ROWS},
    ],
    ids=["as the interface gives it", "a list", "a page", "observations twice"],
)
def test_exports_are_read_the_same_in_any_layout(document):
    assert LANGFUSE.claims(document)
    (record,) = reader.split([document])
    assert reader.build(record) == build(ROWS)


def test_observations_without_a_trace_are_gathered_by_its_id():
    assert LANGFUSE.claims(ROWS[0])
    other = {**ROWS[2], "traceId": "t2", "parentObservationId": None}
    one, two = reader.split([*ROWS, other])
    trace = reader.build(one)
    assert (trace.trace_id, trace.response["content"]) == ("t1", "Here is x.")
    assert reader.build(two).trace_id == "t2"


def test_errors_name_the_observation_and_its_field():
    with pytest.raises(TraceError, match=r"observations\[0\]\.startTime"):
        build([{**ROWS[0], "startTime": "soon"}])
    with pytest.raises(TraceError, match="the trace has no observations"):
        build([])


@pytest.mark.parametrize("value", [None, [], {}, {"observations": []}, {"observations": [], "trace": 1}, {"id": "a"}])
def test_other_values_are_not_claimed(value):
    assert not LANGFUSE.claims(value)


@given(damage_document([WHOLE]) | damage_document(ROWS))
def test_damage_is_a_trace_or_a_reason(documents):
    for record in reader.split(documents):
        reader.identify(record)
        try:
            reader.build(record)
        except TraceError as error:
            assert "\n" not in str(error)
