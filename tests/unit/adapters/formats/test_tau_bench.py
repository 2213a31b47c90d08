from __future__ import annotations

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


def test_a_run_that_crashed_is_an_error():
    trace = reader.build_tau_bench(run(traj=[], info={"error": "timeout", "traceback": "..."}))
    assert trace.status == "error"
    assert trace.error == {"type": None, "message": "timeout"}


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
