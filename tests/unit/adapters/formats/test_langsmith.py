from __future__ import annotations

import pytest
from damage import damage_document
from hypothesis import given

from evalgate.adapters.formats.langsmith import LANGSMITH, reader
from evalgate.errors import TraceError

ROOT = "00000000-0000-0000-0000-000000000001"
FIRST = "00000000-0000-0000-0000-000000000002"
TOOL = "00000000-0000-0000-0000-000000000003"
SECOND = "00000000-0000-0000-0000-000000000004"
ASKED = {"id": "c1", "name": "find", "args": {"q": "x"}, "type": "tool_call"}


def order(*ids_and_seconds):
    return ".".join(f"20261120T2241{second:02d}000000Z{run_id}" for run_id, second in ids_and_seconds)


def run(run_id, name, kind, begin, end, **fields):
    is_root = run_id == ROOT
    return {
        "id": run_id,
        "trace_id": ROOT,
        "parent_run_id": None if is_root else ROOT,
        "dotted_order": order((ROOT, 0)) if is_root else order((ROOT, 0), (run_id, begin)),
        "name": name,
        "run_type": kind,
        "start_time": f"2026-11-20T22:41:{begin:02d}",
        "end_time": f"2026-11-20T22:41:{end:02d}",
        "inputs": {},
        "outputs": {},
        "error": None,
        "extra": {},
        "tags": [],
        **fields,
    }


def message(kind, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def generation(tokens_in, tokens_out, **kwargs):
    usage = {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "input_token_details": {"cache_read": 8},
    }
    metadata = {"model_name": "gpt-5-mini-2025", "finish_reason": "stop", "id": f"chatcmpl-{tokens_in}"}
    reply = message("AIMessage", usage_metadata=usage, response_metadata=metadata, **kwargs)
    return {"generations": [[{"text": "", "type": "ChatGeneration", "message": reply}]], "llm_output": None}


USER = message("HumanMessage", content="Find x.")
CALLED = message("AIMessage", content="", tool_calls=[ASKED])
RESULT = message("ToolMessage", content="found", tool_call_id="c1", name="find", status="success")
SETTINGS = {"metadata": {"ls_provider": "openai", "ls_model_name": "gpt-5-mini"}}
RUNS = [
    run(
        ROOT,
        "Helper",
        "chain",
        0,
        9,
        inputs={"messages": [{"role": "user", "content": "Find x."}]},
        extra={"metadata": {"thread_id": "t-1", "team": "blue", "ls_provider": "openai", "langgraph_step": 1}},
        reference_example_id="example-7",
        tags=["nightly"],
        total_tokens=330,
        prompt_tokens=300,
        completion_tokens=30,
        total_cost="0.00042",
    ),
    run(
        FIRST,
        "ChatOpenAI",
        "llm",
        1,
        3,
        inputs={"messages": [[USER]]},
        outputs=generation(100, 10, content="", tool_calls=[ASKED]),
        extra=SETTINGS,
        total_cost="0.0001",
    ),
    run(TOOL, "find", "tool", 4, 6, inputs={"input": "{'q': 'x'}"}, outputs={"output": RESULT}),
    run(
        SECOND,
        "ChatOpenAI",
        "llm",
        7,
        8,
        inputs={"messages": [[USER, CALLED, RESULT]]},
        outputs=generation(200, 20, content="Here is x."),
        extra=SETTINGS,
        total_cost="0.00032",
    ),
]


def build(documents):
    (record,) = reader.split(documents)
    return reader.build(record)


def changed(position, **fields):
    return [run if number != position else {**run, **fields} for number, run in enumerate(RUNS)]


def test_the_conversation_is_that_of_the_last_model_run():
    trace = build(RUNS)
    assert [(m["role"], m["content"]) for m in trace.messages] == [
        ("user", "Find x."),
        ("assistant", ""),
        ("tool", "found"),
        ("assistant", "Here is x."),
    ]
    assert trace.response["content"] == "Here is x."


def test_a_tool_run_and_its_messages_are_one_call():
    (call,) = build(RUNS).tool_calls
    assert (call["id"], call["name"], call["arguments"]) == ("c1", "find", {"q": "x"})
    assert (call["status"], call["result_text"], call["duration_ms"]) == ("ok", "found", 2000)


def test_tokens_and_cost_are_those_of_model_runs_and_chains_only_repeat_them():
    trace = build(RUNS)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (300, 30)
    assert trace.usage["cache_read_input_tokens"] == 16
    assert trace.cost["source"] == "recorded"
    assert trace.cost["usd"] == pytest.approx(0.00042)
    assert [(call["provider"], call["model"], call["response_id"]) for call in trace.llm_calls] == [
        ("openai", "gpt-5-mini-2025", "chatcmpl-100"),
        ("openai", "gpt-5-mini-2025", "chatcmpl-200"),
    ]


def test_the_example_of_a_data_set_names_the_scenario():
    trace = build(RUNS)
    assert (trace.scenario_id, trace.conversation_id) == ("example-7", "t-1")
    assert (trace.tags, trace.metadata) == (["nightly"], {"thread_id": "t-1", "team": "blue"})
    assert trace.latency["total_ms"] == 9000


def test_an_explicitly_named_scenario_takes_precedence_over_the_example():
    marked = {"metadata": {"evalgate.scenario.id": "refund", "evalgate.trial": "2"}}
    trace = build(changed(0, extra=marked))
    assert (trace.scenario_id, trace.trial) == ("refund", 2)


def nested():
    root, *children = RUNS
    return [{**root, "child_runs": children}]


@pytest.mark.parametrize(
    "documents",
    [nested(), [RUNS], [{"runs": RUNS}], list(reversed(RUNS))],
    ids=["nested", "a list", "a page", "any order"],
)
def test_runs_are_read_the_same_in_any_layout(documents):
    assert build(documents) == build(RUNS)
    assert LANGSMITH.claims(documents[0])


def batch(**patched):
    started = [{key: value for key, value in run.items() if key not in {"end_time", "outputs"}} for run in RUNS]
    ended = [{key: run[key] for key in ("trace_id", "dotted_order", "end_time", "outputs")} for run in RUNS]
    return {"post": started, "patch": [{**end, **patched} for end in ended]}


def test_a_later_batch_completes_runs_and_may_imply_ids_by_the_order():
    assert build([batch()]) == build(RUNS)
    assert LANGSMITH.claims(batch())
    assert build([{"post": batch()["post"]}, {"patch": batch()["patch"]}]) == build(RUNS)


def test_an_empty_field_of_a_later_batch_does_not_overwrite_the_first_value():
    assert build([batch(inputs=None, name=None)]) == build(RUNS)


def test_a_run_that_has_not_ended_is_incomplete():
    assert build(changed(0, end_time=None)).status == "incomplete"
    assert build(RUNS).status == "ok"


def test_times_in_milliseconds_are_read_with_the_order_of_the_runs():
    began = 1795732861000
    documents = [
        {**run, "start_time": began, "end_time": began + 1000 * number} for number, run in enumerate(RUNS, start=1)
    ]
    trace = build(documents)
    assert trace.response["content"] == "Here is x."
    assert [call["response_id"] for call in trace.llm_calls] == ["chatcmpl-100", "chatcmpl-200"]


def test_a_raw_answer_of_a_provider_is_read():
    answer = {
        "id": "chatcmpl-9",
        "model": "gpt-4o-mini-2024",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Howdy!"}}],
        "usage_metadata": {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18},
    }
    inputs = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "howdy"}]}
    trace = build([run(ROOT, "ChatOpenAI", "llm", 0, 1, inputs=inputs, outputs=answer)])
    assert [(m["role"], m["content"]) for m in trace.messages] == [("user", "howdy"), ("assistant", "Howdy!")]
    assert (trace.usage["total_tokens"], trace.model, trace.response["finish_reason"]) == (
        18,
        "gpt-4o-mini-2024",
        "stop",
    )
    unmetered = build([run(ROOT, "c", "llm", 0, 1, inputs=inputs, outputs={**answer, "usage_metadata": None})])
    assert unmetered.usage["total_tokens"] is None


def test_zeros_in_the_token_columns_are_unknown_tokens():
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    trace = build([run(ROOT, "c", "llm", 0, 1, inputs={"prompt": "Hi"}, outputs={"output": "Ho"}, **zeros)])
    assert trace.usage["total_tokens"] is None
    counted = build([run(ROOT, "c", "llm", 0, 1, **{**zeros, "prompt_tokens": 5, "total_tokens": 5})])
    assert counted.usage["input_tokens"] == 5


def test_a_cost_of_0_beside_tokens_is_unknown():
    trace = build([run(ROOT, "c", "llm", 0, 1, outputs=generation(5, 5, content="x"), total_cost="0")])
    assert trace.cost == {"usd": None, "source": "unknown"}
    assert "zero_cost" in [warning["code"] for warning in trace.warnings]


def test_a_failed_tool_run_is_an_error():
    (call,) = build(changed(2, error="ValueError('no x')", outputs=None)).tool_calls
    assert call["status"] == "error"


def test_feedback_is_evaluations():
    feedback = [
        {"key": "correct", "score": True, "comment": "yes"},
        {"key": "tone", "score": None, "value": "friendly"},
    ]
    found = build(changed(0, feedback=feedback, feedback_stats={"correct": {"n": 1, "avg": 1.0}})).evaluations
    assert [(e["name"], e["score_value"], e["score_label"], e["explanation"]) for e in found] == [
        ("correct", 1.0, None, "yes"),
        ("tone", None, "friendly", None),
    ]
    averaged = build(changed(0, feedback_stats={"correct": {"n": 4, "avg": 0.75}, "note": {"avg": None}})).evaluations
    assert [(e["name"], e["score_value"]) for e in averaged] == [("correct", 0.75)]


def test_runs_of_several_traces_are_separated():
    other = {
        **run(FIRST, "x", "llm", 0, 1, inputs={"prompt": "Hi"}),
        "trace_id": FIRST,
        "parent_run_id": None,
    }
    alone = {**other, "id": SECOND, "trace_id": None, "dotted_order": None}
    assert [reader.build(record).trace_id for record in reader.split([RUNS[0], other, alone])] == [
        ROOT,
        FIRST,
        SECOND,
    ]


def test_errors_name_the_run_and_its_field():
    with pytest.raises(TraceError, match=r"runs\[1\]\.end_time"):
        build(changed(1, end_time="later"))
    with pytest.raises(TraceError, match="total_cost is not an amount"):
        build(changed(1, total_cost="cheap"))


@pytest.mark.parametrize("value", [None, [], {}, {"id": "a"}, {"post": []}, {"post": [1]}, {"run_type": "llm"}])
def test_other_values_are_not_claimed(value):
    assert not LANGSMITH.claims(value)


@given(damage_document(RUNS) | damage_document([batch()]))
def test_damage_is_a_trace_or_a_reason(documents):
    for record in reader.split(documents):
        reader.identify(record)
        try:
            reader.build(record)
        except TraceError as error:
            assert "\n" not in str(error)
