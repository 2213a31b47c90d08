from __future__ import annotations

import pytest

from evalgate.adapters.formats.langsmith import LANGSMITH, reader

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


@pytest.mark.parametrize("value", [None, [], {}, {"id": "a"}, {"post": []}, {"post": [1]}, {"run_type": "llm"}])
def test_other_values_are_not_claimed(value):
    assert not LANGSMITH.claims(value)
