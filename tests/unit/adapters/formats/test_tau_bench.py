from __future__ import annotations

from evalgate.adapters.formats.tau import reader

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
