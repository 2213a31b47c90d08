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


def test_the_same_duration_in_all_runs_is_suspicious():
    same = tau2_reader.split(document(simulation(duration=60.0), simulation(duration=60.0)))
    other = tau2_reader.split(document(simulation(duration=60.0), simulation(duration=61.0)))
    assert [w["code"] for w in tau2_reader.build(same[0]).warnings] == ["suspicious_latency"]
    assert not tau2_reader.build(other[0]).warnings
    assert not build(duration=60.0).warnings


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
