from __future__ import annotations

from time import process_time

import pytest
from damage import damage_document, nest_lists
from hypothesis import given

from evalgate.adapters.formats.atif import ATIF
from evalgate.adapters.formats.atif import reader as atif
from evalgate.errors import TraceError


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
INNER = {
    "schema_version": "ATIF-v1.7",
    "trajectory_id": "child",
    "agent": {"name": "searcher", "version": "1"},
    "steps": [
        step("user", "Search the depot.", is_copied_context=True),
        step("user", "Search the depot, please."),
        step(
            "agent",
            "Found it.",
            tool_calls=[call("x", "scan_rack", rack=3)],
            observation=seen(result("1 book", "x")),
            metrics=metrics(30, 3),
        ),
    ],
}


def delegating(**fields):
    reference = result("It is in the depot.", "d", subagent_trajectory_ref=[{"trajectory_id": "child"}])
    return trajectory(
        step("user", "Where is my book?"),
        step("agent", "", tool_calls=[call("d", "delegate")], observation=seen(reference), metrics=metrics()),
        step("agent", "In the depot.", metrics=metrics()),
        **{"subagent_trajectories": [INNER], **fields},
    )


def codes(trace):
    return [warning["code"] for warning in trace.warnings]


def test_a_trajectory_has_its_task_agent_and_model():
    trace = atif.build(ORDER)
    assert (trace.trace_id, trace.scenario_id, trace.trial) == ("s-1", "lost-book", 2)
    assert trace.agent == {"name": "clerk", "version": "2"}
    assert (trace.provider, trace.model) == ("acme", "large")
    assert trace.system_instructions == "You sell books."
    assert atif.identify(ORDER) == ("lost-book", 2)


def test_results_find_their_calls_by_id_in_any_order():
    trace = atif.build(ORDER)
    assert [(c["arguments"], c["result_text"], c["step"]) for c in trace.tool_calls] == [
        ({"number": 1}, "lost", 1),
        ({"number": 2}, "sent", 1),
    ]
    assert trace.tool_calls[0]["started_at"] == "2026-01-05T10:00:03Z"


def test_the_response_is_the_last_message_of_the_agent():
    trace = atif.build(ORDER)
    assert trace.response == {
        "content": "One is on its way, one is lost.",
        "finish_reason": "stop",
        "message_index": 5,
    }
    assert trace.messages[2]["reasoning"] == "Two orders, two look-ups."


def test_totals_and_times_are_the_recorded_ones():
    trace = atif.build(ORDER)
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.usage["source"]) == (
        250,
        30,
        "recorded_total",
    )
    assert trace.usage["cache_read_input_tokens"] == 40
    assert trace.cost == {"usd": 0.03, "source": "recorded"}
    assert trace.latency == {"total_ms": 7500.0, "source": "timestamps"}
    assert [call["model"] for call in trace.llm_calls] == ["large", "small"]
    assert not trace.warnings


def test_totals_that_the_steps_do_not_make_win_with_a_warning():
    trace = atif.build({**ORDER, "final_metrics": {"total_prompt_tokens": 300, "total_completion_tokens": 30}})
    assert trace.usage["input_tokens"] == 300
    assert codes(trace) == ["total_mismatch"]
    assert "300 + 30" in trace.warnings[0]["message"]
    assert "250 + 30" in trace.warnings[0]["message"]


def test_without_totals_the_steps_are_summed():
    trace = atif.build({**ORDER, "final_metrics": None})
    assert (trace.usage["input_tokens"], trace.usage["source"]) == (250, "inference_sum")
    assert trace.cost["usd"] == pytest.approx(0.03)


def test_a_total_cost_of_0_beside_tokens_is_unknown():
    totals = {**ORDER["final_metrics"], "total_cost_usd": 0}
    trace = atif.build({**ORDER, "final_metrics": totals})
    assert trace.cost["usd"] is None
    assert codes(trace) == ["zero_cost"]


def test_steps_without_figures_leave_tokens_and_cost_unknown():
    steps = [*ORDER["steps"], step("agent", "Bye.")]
    trace = atif.build({**ORDER, "steps": steps, "final_metrics": None})
    assert (trace.usage["input_tokens"], trace.cost["usd"]) == (None, None)
    assert codes(trace) == ["tokens_incomplete"]


def test_a_trajectory_without_usage_has_unknown_usage():
    trace = atif.build(trajectory(step("user", "Hi"), step("agent", "Hello")))
    assert trace.usage["source"] == "none"
    assert (trace.cost["usd"], trace.latency["total_ms"], trace.scenario_id) == (None, None, None)


def test_copied_steps_are_left_out_and_a_sessions_repeated_totals_with_them():
    copied = [step("user", "Go on", is_copied_context=True), step("agent", "Old", is_copied_context=True)]
    trace = atif.build(
        {
            **ORDER,
            "steps": [*copied, *ORDER["steps"][2:]],
            "final_metrics": {
                "total_prompt_tokens": 9000,
                "total_completion_tokens": 900,
                "total_cost_usd": 9.0,
            },
        }
    )
    assert trace.messages[0]["content"] == "I look both up."
    assert (trace.usage["input_tokens"], trace.cost["usd"]) == (250, pytest.approx(0.03))
    assert codes(trace) == ["copied_context"]
    assert "2 steps" in trace.warnings[0]["message"]


def test_a_step_without_a_model_is_not_a_model_call():
    sent = step("agent", "", llm_call_count=0, tool_calls=[call("a", "route")], observation=seen(result("ok", "a")))
    trace = atif.build(trajectory(step("user", "Hi"), sent, step("agent", "Done", metrics=metrics())))
    assert [c["name"] for c in trace.tool_calls] == ["route"]
    assert len(trace.llm_calls) == 1
    assert not trace.warnings


def test_one_result_without_an_id_answers_all_calls_of_its_step():
    both = step("agent", "", tool_calls=[call("a", "type"), call("b", "type")], observation=seen(result("$ ok")))
    trace = atif.build(trajectory(both))
    assert [(c["status"], c["result_text"]) for c in trace.tool_calls] == [("ok", "$ ok")] * 2
    assert [m["role"] for m in trace.messages] == ["assistant", "tool"]


def test_results_without_ids_answer_in_order():
    both = step(
        "agent",
        "",
        tool_calls=[call("a", "one"), call("b", "two"), call("c", "three")],
        observation=seen(result("1"), result("2")),
    )
    trace = atif.build(trajectory(both))
    assert [c["result_text"] for c in trace.tool_calls] == ["1", "2", None]
    assert trace.tool_calls[2]["status"] == "missing"
    assert trace.messages[1]["tool_call_id"] == "a"


def test_many_results_without_ids_take_linear_time():
    many = 20_000
    crowd = step("agent", "", tool_calls=[call("a", "x")] * many, observation=seen(*[result("1")] * many))
    started = process_time()
    trace = atif.build(trajectory(crowd))
    assert process_time() - started < 5
    assert {c["status"] for c in trace.tool_calls} == {"ok"}


def test_messages_of_the_environment_are_not_results():
    trace = atif.build(trajectory(step("agent", "ls", observation=seen(result("a.txt")))))
    assert [m["role"] for m in trace.messages] == ["assistant", "tool"]
    assert not trace.tool_calls
    assert not trace.warnings


def test_a_result_without_content_answers_its_call():
    trace = atif.build(
        trajectory(step("agent", "", tool_calls=[call("a", "one")], observation=seen({"source_call_id": "a"})))
    )
    assert (trace.tool_calls[0]["status"], trace.tool_calls[0]["result"]) == ("ok", None)


def test_the_call_that_ends_a_run_misses_no_result():
    ended = trajectory(step("agent", "Done", tool_calls=[call("a", "finish", message="All done")]))
    killed = trajectory(step("agent", "Done", tool_calls=[call("a", "delete_all")]))
    assert atif.build(ended).tool_calls[0]["status"] == "ok"
    assert atif.build(killed).tool_calls[0]["status"] == "missing"


def test_calls_of_sub_agents_are_at_the_call_of_the_sub_agent_and_have_its_name():
    trace = atif.build(delegating())
    assert [(c["name"], c["agent"]) for c in trace.tool_calls] == [
        ("delegate", "clerk"),
        ("scan_rack", "searcher"),
    ]
    assert [(m["role"], m["agent"]) for m in trace.messages] == [
        ("user", "clerk"),
        ("assistant", "clerk"),
        ("user", "searcher"),
        ("assistant", "searcher"),
        ("tool", "searcher"),
        ("tool", "clerk"),
        ("assistant", "clerk"),
    ]
    assert trace.tool_calls[0]["result_text"] == "It is in the depot."
    assert {m["turn"] for m in trace.messages} == {1}


def test_a_sub_agents_text_is_not_the_response():
    steps = delegating()["steps"][:2]
    assert atif.build(delegating(steps=steps)).response["content"] is None


@pytest.mark.parametrize("own", [None, {"total_prompt_tokens": 200, "total_completion_tokens": 20}])
def test_tokens_of_sub_agents_are_added_where_the_totals_leave_them_out(own):
    trace = atif.build(delegating(final_metrics=own))
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (230, 23)
    assert not trace.warnings


def test_tokens_of_sub_agents_are_not_added_twice():
    trace = atif.build(delegating(final_metrics={"total_prompt_tokens": 230, "total_completion_tokens": 23}))
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"]) == (230, 23)
    assert not trace.warnings


def test_a_cost_without_that_of_a_sub_agent_is_unknown():
    totals = {"total_prompt_tokens": 200, "total_completion_tokens": 20, "total_cost_usd": 0.5}
    assert atif.build(delegating(final_metrics=totals)).cost == {"usd": None, "source": "partial"}
    priced = {
        **INNER,
        "final_metrics": {"total_prompt_tokens": 30, "total_completion_tokens": 3, "total_cost_usd": 0.25},
    }
    trace = atif.build(delegating(final_metrics=totals, subagent_trajectories=[priced]))
    assert trace.cost["usd"] == 0.75


def test_totals_are_not_compared_with_steps_of_which_some_lack_usage():
    steps = [*ORDER["steps"], step("agent", "Bye.")]
    totals = {"total_prompt_tokens": 400, "total_completion_tokens": 50}
    trace = atif.build({**ORDER, "steps": steps, "final_metrics": totals})
    assert (trace.usage["input_tokens"], trace.warnings) == (400, [])


def test_a_sub_agent_without_a_reference_is_still_read():
    trace = atif.build(trajectory(step("agent", "Done"), subagent_trajectories=[INNER]))
    assert [c["name"] for c in trace.tool_calls] == ["scan_rack"]
    assert trace.response["content"] == "Done"


def test_a_sub_agent_in_another_file_is_a_warning():
    reference = [{"session_id": "s-2", "trajectory_path": "sub.json"}, {"session_id": "s-3"}]
    handed = step("system", "Handed over.", observation=seen({"subagent_trajectory_ref": reference}))
    trace = atif.build(trajectory(handed))
    assert codes(trace) == ["subagent_elsewhere"]
    assert trace.warnings[0]["message"].startswith("2 sub-agents")


def test_two_sub_agents_of_one_id_are_refused():
    with pytest.raises(TraceError, match=r"subagent_trajectories\[1\].trajectory_id is also the id of another"):
        atif.build(delegating(subagent_trajectories=[INNER, INNER]))


def test_of_a_picture_only_its_kind_is_kept():
    shown = [{"type": "text", "text": "What is it?"}, {"type": "image", "source": {"path": "secret.png"}}]
    message = atif.build(trajectory(step("user", shown), step("agent", "A cat"))).messages[0]
    assert message["content"] == "What is it?"
    assert message["parts"] == [{"type": "text", "text": "What is it?"}, {"type": "image"}]


def test_definitions_of_tools_lose_their_wrapping():
    tool = {"name": "find_order", "description": "Finds.", "parameters": {"type": "object"}}
    agent = {
        "name": "clerk",
        "version": "2",
        "tool_definitions": [{"type": "function", "function": tool}, tool],
    }
    assert atif.build(trajectory(step("agent", "Hi"), agent=agent)).tool_definitions == [tool, tool]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema_version": "ATIF-v2.0"}, "schema_version is not ATIF-v1"),
        ({"steps": []}, "steps is missing or empty"),
        ({"steps": [step("robot", "Hi")]}, r"steps\[0\].source is not one of user"),
        ({"steps": [step("agent", 3)]}, r"steps\[0\].message is neither"),
        (
            {"steps": [step("agent", "", tool_calls=[{}])]},
            r"steps\[0\].tool_calls\[0\].function_name is missing",
        ),
        (
            {"steps": [step("agent", "", observation=seen(result(4)))]},
            r"steps\[0\].observation.results\[0\].content is",
        ),
        ({"steps": [step("agent", "", metrics=metrics(-1))]}, r"metrics.prompt_tokens is negative"),
        ({"extra": {"task_id": ""}}, "metadata.task_id is empty"),
        ({"extra": nest_lists(70)}, "levels deep"),
    ],
)
def test_untrustworthy_fields_are_refused_by_name(change, problem):
    with pytest.raises(TraceError, match=problem):
        atif.build({**ORDER, **change})


@pytest.mark.parametrize(
    "value", [None, 3, "ATIF-v1.0", [], {}, [[]], {"schema_version": nest_lists(900)}, {"schema_version": 1}]
)
def test_other_documents_are_not_claimed(value):
    assert not ATIF.claims(value)


def test_trajectories_are_claimed_alone_and_in_lists():
    assert ATIF.claims(ORDER)
    assert ATIF.claims([ORDER])
    assert atif.READER.split([ORDER, ORDER]) == [ORDER, ORDER]


@given(damage_document(delegating(final_metrics=ORDER["final_metrics"], extra=ORDER["extra"])))
def test_damage_is_a_trace_error_or_none(document):
    atif.identify(document)
    try:
        atif.build(document)
    except TraceError as error:
        assert "\n" not in str(error)
