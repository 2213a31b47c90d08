from __future__ import annotations

from time import thread_time

import pytest
from damage import nest_lists

from evalgate.adapters.formats.atif import ATIF
from evalgate.adapters.formats.atif import reader as atif


def step(source, message, **fields):
    return {"step_id": 1, "source": source, "message": message, **fields}


def call(call_id, name, **arguments):
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments}


def result(content, call_id=None, **fields):
    return {"source_call_id": call_id, "content": content, **fields}


def seen(*results):
    return {"results": list(results)}


def metrics(prompt=100, completion=10, **fields):
    return {"prompt_tokens": prompt, "completion_tokens": completion, **fields}


def trajectory(*steps, **fields):
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "s-1",
        "agent": {"name": "clerk", "version": "2", "model_name": "acme/large"},
        "steps": list(steps),
        **fields,
    }


ORDER = trajectory(
    step("system", "You sell books.", timestamp="2026-01-05T10:00:00Z"),
    step("user", "Where are my two books?", timestamp="2026-01-05T10:00:01Z"),
    step(
        "agent",
        "I look both up.",
        timestamp="2026-01-05T10:00:03Z",
        reasoning_content="Two orders, two look-ups.",
        tool_calls=[call("a", "find_order", number=1), call("b", "find_order", number=2)],
        observation=seen(result("sent", "b"), result("lost", "a")),
        metrics=metrics(cost_usd=0.01, cached_tokens=40),
    ),
    step(
        "agent",
        "One is on its way, one is lost.",
        timestamp="2026-01-05T10:00:07.500Z",
        model_name="acme/small",
        metrics=metrics(150, 20, cost_usd=0.02, extra={"finish_reason": "end_turn"}),
    ),
    final_metrics={
        "total_prompt_tokens": 250,
        "total_completion_tokens": 30,
        "total_cached_tokens": 40,
        "total_cost_usd": 0.03,
    },
    extra={"task_id": "lost-book", "evalgate.trial": 2},
)


def test_many_results_without_ids_take_linear_time():
    many = 20_000
    crowd = step("agent", "", tool_calls=[call("a", "x")] * many, observation=seen(*[result("1")] * many))
    started = thread_time()
    trace = atif.build(trajectory(crowd))
    assert thread_time() - started < 5
    assert {c["status"] for c in trace.tool_calls} == {"unknown"}


@pytest.mark.parametrize(
    "value", [None, 3, "ATIF-v1.0", [], {}, [[]], {"schema_version": nest_lists(900)}, {"schema_version": 1}]
)
def test_other_documents_are_not_claimed(value):
    assert not ATIF.claims(value)


def test_trajectories_are_claimed_alone_and_in_lists():
    assert ATIF.claims(ORDER)
    assert ATIF.claims([ORDER])
    assert atif.READER.split([ORDER, ORDER]) == [ORDER, ORDER]


REF = {"session_id": "s-2", "trajectory_path": "other.json"}


def test_a_sub_agent_of_a_call_whose_steps_are_elsewhere_leaves_calls_open():
    started = step(
        "agent",
        "",
        tool_calls=[call("a", "delegate")],
        observation=seen(result("done", "a", subagent_trajectory_ref=[REF])),
    )
    assert "recorded in other files" in atif.build(trajectory(step("user", "Hi"), started)).gaps["calls"]


def test_a_summary_that_the_runtime_started_leaves_nothing_open():
    """So Terminus 2 writes it; such an agent has no tools."""
    summary = step("system", "Summarized.", observation=seen({"subagent_trajectory_ref": [REF]}))
    trace = atif.build(trajectory(step("user", "Hi"), summary, step("agent", "Done.")))
    assert ([each["code"] for each in trace.warnings], trace.gaps) == (["subagent_elsewhere"], {})
