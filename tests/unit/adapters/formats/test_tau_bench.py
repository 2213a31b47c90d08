from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalgate.adapters.formats.tau import reader
from evalgate.errors import TraceError

TRAJ = [
    {"role": "system", "content": "# Policy"},
    {"role": "user", "content": "Cancel my flight."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"id":"A"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "Error: no such flight"},
    {"role": "assistant", "content": "I could not cancel it."},
    {"role": "user", "content": "###STOP###"},
]


def run(**fields):
    info = {
        "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0, "gt_data_hash": "abc"}},
        "user_cost": 0.01,
    }
    return {"task_id": 3, "trial": 1, "reward": 0.0, "info": info, "traj": TRAJ, **fields}


def test_a_run_has_its_task_trial_and_reward():
    trace = reader.build_tau_bench(run())
    assert (trace.scenario_id, trace.trial) == ("3", 1)
    assert {e["name"]: e["score_value"] for e in trace.evaluations} == {
        "reward": 0.0,
        "reward.r_actions": 0.0,
    }


def test_the_simulators_stop_word_is_kept_but_is_not_the_response():
    trace = reader.build_tau_bench(run())
    assert trace.messages[-1]["content"] == "###STOP###"
    assert trace.response["content"] == "I could not cancel it."


def test_a_result_that_begins_with_error_failed():
    call = reader.build_tau_bench(run()).tool_calls[0]
    assert call["status"] == "error"
    assert call["error"] == {"type": None, "message": "Error: no such flight"}


def test_cost_of_the_simulated_user_is_not_the_agents():
    trace = reader.build_tau_bench(run())
    assert trace.cost["usd"] is trace.usage["total_tokens"] is trace.latency["total_ms"] is None


def test_a_run_that_crashed_is_an_error():
    trace = reader.build_tau_bench(run(traj=[], info={"error": "timeout", "traceback": "..."}))
    assert trace.status == "error"
    assert trace.error == {"type": None, "message": "timeout"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"traj": {}}, "traj is not a list"),
        ({"traj": [{"role": "user", "content": 5}]}, "traj[0].content is neither text"),
        ({"reward": True}, "reward is not a number"),
        ({"reward": "1"}, "reward is not a number"),
        ({"trial": "x"}, "trial is not a whole number"),
        ({"task_id": []}, "task_id is neither text nor a number"),
        ({"info": 5}, "info is not an object"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(fields, message):
    with pytest.raises(TraceError) as caught:
        reader.build_tau_bench(run(**fields))
    assert str(caught.value).startswith(message)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["reward_info", "info", "error", "reward", "role", "content"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.sampled_from(["task_id", "trial", "reward", "info", "traj"]), JUNK)
def test_any_content_of_a_run_gives_a_trace_or_a_reason(field, junk):
    record = run(**{field: junk})
    reader.TAU_BENCH_READER.identify(record)
    try:
        reader.build_tau_bench(record)
    except TraceError as error:
        assert "\n" not in str(error)
