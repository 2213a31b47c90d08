from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.adapters.formats.tau import reader as tau2_reader
from evalgate.errors import TraceError

USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


def make_message(role, content, **fields):
    return {
        "role": role,
        "content": content,
        "tool_calls": None,
        "timestamp": "2025-08-01T16:20:44.335657",
        "cost": 0.0,
        "usage": None,
        "raw_data": None,
        **fields,
    }


def call(call_id, name, requestor="assistant"):
    return {"id": call_id, "name": name, "arguments": {"x": 1}, "requestor": requestor}


def result(call_id, content, *, error=False, requestor="assistant"):
    return {"role": "tool", "id": call_id, "content": content, "requestor": requestor, "error": error}


def simulation(**fields):
    messages = [
        make_message("assistant", "Hi! How can I help?"),
        make_message("user", "My phone is dead.", usage=USAGE, cost=0.5),
        make_message(
            "assistant",
            "Let me look.",
            tool_calls=[call("a", "status"), call("b", "plan")],
            usage=USAGE,
            cost=0.01,
            raw_data={"finish_reason": "tool_calls"},
        ),
        result("a", "on"),
        result("b", "Error: none", error=True),
        make_message("user", None, tool_calls=[call("u", "reboot", "user")]),
        result("u", "rebooted", requestor="user"),
        make_message("user", "Works now."),
        make_message("assistant", "Glad to hear.", usage=USAGE, cost=0.02, raw_data={"finish_reason": "stop"}),
        make_message("user", "###STOP###"),
    ]
    return {
        "id": "sim-1",
        "task_id": "[mobile]a|b:c",
        "trial": 0,
        "start_time": "2025-08-01T16:20:44.321269",
        "end_time": "2025-08-01T16:21:03.551551",
        "duration": 19.25,
        "termination_reason": "user_stop",
        "agent_cost": 0.03,
        "user_cost": 0.5,
        "reward_info": {"reward": 1.0, "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.5}},
        "messages": messages,
        **fields,
    }


def document(*simulations, **info):
    agent = {"implementation": "llm_agent", "llm": "openai/gpt-4.1", "llm_args": {"api_key": "sk-planted"}}
    settings = {"agent_info": agent, "environment_info": {"domain_name": "telecom"}, **info}
    return {"info": settings, "tasks": [], "simulations": list(simulations)}


def build(**fields):
    return tau2_reader.build(tau2_reader.split(document(simulation(**fields)))[0])


def test_a_simulation_has_its_task_reward_and_model():
    trace = build()
    assert (trace.trace_id, trace.scenario_id, trace.trial) == ("sim-1", "[mobile]a|b:c", 0)
    assert (trace.provider, trace.model, trace.agent) == (
        "openai",
        "gpt-4.1",
        {"name": "llm_agent", "framework": "tau2"},
    )
    assert {e["name"]: e["score_value"] for e in trace.evaluations} == {
        "reward": 1.0,
        "reward.DB": 1.0,
        "reward.COMMUNICATE": 0.5,
    }


def test_only_the_agents_own_model_calls_are_metered():
    trace = build()
    assert len(trace.llm_calls) == 2
    assert (trace.usage["input_tokens"], trace.usage["output_tokens"], trace.usage["source"]) == (
        200,
        20,
        "inference_sum",
    )
    assert trace.cost == {"usd": 0.03, "source": "recorded"}
    assert [c["finish_reason"] for c in trace.llm_calls] == ["tool_calls", "stop"]


def test_calls_of_the_simulated_user_are_not_the_agents():
    trace = build()
    assert [c["name"] for c in trace.agent_calls] == ["status", "plan"]
    assert [c["requestor"] for c in trace.tool_calls] == ["assistant", "assistant", "user"]
    assert trace.tool_calls[2]["result_text"] == "rebooted"


def test_parallel_calls_share_a_step_and_errors_are_flagged():
    trace = build()
    assert {c["step"] for c in trace.agent_calls} == {2}
    assert [c["status"] for c in trace.tool_calls] == ["ok", "error", "ok"]


def test_a_simulated_users_tool_call_is_not_a_turn():
    assert build().turn_count == 3


def test_naive_times_are_taken_as_utc():
    trace = build()
    assert trace.started_at == "2025-08-01T16:20:44.321269Z"
    assert trace.latency == {"total_ms": 19250.0, "source": "recorded"}


def test_a_cost_of_0_beside_metered_tokens_is_unknown():
    trace = build(agent_cost=0)
    assert trace.cost == {"usd": None, "source": "unknown"}
    assert [w["code"] for w in trace.warnings] == ["zero_cost"]


def test_an_agent_that_was_not_metered_has_unknown_figures():
    trace = build(agent_cost=None, messages=[make_message("assistant", "Hi")], duration=None)
    assert trace.usage["total_tokens"] is trace.cost["usd"] is trace.latency["total_ms"] is None


@pytest.mark.parametrize(
    ("reason", "status", "finish"),
    [
        ("user_stop", "ok", "stop"),
        ("agent_stop", "ok", "stop"),
        ("max_steps", "incomplete", "max_steps"),
        ("too_many_errors", "error", "too_many_errors"),
        (None, "ok", None),
    ],
)
def test_how_a_run_ended(reason, status, finish):
    trace = build(termination_reason=reason)
    assert (trace.status, trace.finish_reason) == (status, finish)


def test_the_same_duration_in_all_runs_is_suspicious():
    same = tau2_reader.split(document(simulation(duration=60.0), simulation(duration=60.0)))
    other = tau2_reader.split(document(simulation(duration=60.0), simulation(duration=61.0)))
    assert [w["code"] for w in tau2_reader.build(same[0]).warnings] == ["suspicious_latency"]
    assert not tau2_reader.build(other[0]).warnings
    assert not build(duration=60.0).warnings


def test_the_arguments_of_the_model_are_never_copied():
    trace = build()
    assert "sk-planted" not in repr(trace)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"messages": {}}, "messages is not a list"),
        ({"messages": [make_message("robot", "")]}, "messages[0].role is not one of system"),
        (
            {"messages": [make_message("assistant", "", tool_calls=[{"name": 5}])]},
            "messages[0].tool_calls[0].name is not text",
        ),
        (
            {"messages": [make_message("assistant", "", usage={"prompt_tokens": "5"})]},
            "messages[0].usage.prompt_tokens is not a whole number",
        ),
        ({"agent_cost": "0.1"}, "agent_cost is not a number"),
        ({"agent_cost": -1}, "agent_cost is negative"),
        ({"duration": True}, "duration is not a number"),
        ({"reward_info": {"reward": "1"}}, "reward_info.reward is not a number"),
        (
            {"reward_info": {"reward_breakdown": {"DB": True}}},
            "reward_info.reward_breakdown.DB is not a number",
        ),
        ({"start_time": "noon"}, "start_time is not an RFC 3339 time"),
        ({"task_id": {}}, "task_id is neither text nor a number"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(fields, reason):
    with pytest.raises(TraceError) as caught:
        build(**fields)
    assert str(caught.value).startswith(reason)


def test_settings_of_the_wrong_kind_damage_only_their_own_record():
    assert (
        tau2_reader.build(tau2_reader.split(document(simulation(), agent_info=[], environment_info=5))[0]).model is None
    )
    records = tau2_reader.split(document(5, simulation()))
    with pytest.raises(TraceError):
        tau2_reader.build(records[0])
    assert tau2_reader.identify(records[0]) == (None, None)
    assert tau2_reader.build(records[1]).scenario_id


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["reward", "role", "content", "tool_calls", "usage", "raw_data", "id", "name"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.sampled_from(sorted(simulation())), JUNK)
def test_any_content_of_a_simulation_gives_a_trace_or_a_reason(field, junk):
    record = tau2_reader.split(document(simulation(**{field: junk})))[0]
    tau2_reader.identify(record)
    try:
        tau2_reader.build(record)
    except TraceError as error:
        assert "\n" not in str(error)


@settings(max_examples=40)
@given(
    st.sampled_from(
        [
            "role",
            "content",
            "tool_calls",
            "usage",
            "cost",
            "raw_data",
            "timestamp",
            "id",
            "error",
            "requestor",
        ]
    ),
    st.integers(0, 9),
    JUNK,
)
def test_any_content_of_a_message_gives_a_trace_or_a_reason(field, index, junk):
    run = simulation()
    run["messages"][index][field] = junk
    try:
        tau2_reader.build(tau2_reader.split(document(run))[0])
    except TraceError as error:
        assert str(error).startswith("messages[")
