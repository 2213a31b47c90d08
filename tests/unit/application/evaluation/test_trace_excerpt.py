"""Of a trace that may be reported, only what its trajectory needs is kept."""

from __future__ import annotations

import pytest
from builders import make_trace

from evalgate.adapters.formats.native.reader import build
from evalgate.application.evaluation.trajectories import MAX_BYTES, build_trajectory, make_excerpt
from evalgate.gate.trajectory.trajectory_diff import trajectory_from_trace
from evalgate.models.trace.trace import Trace

RECORDED = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Refund it."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "name": "pay", "arguments": {"amount": 1, "password": "hunter2"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "paid"},
    {"role": "assistant", "content": "Done."},
]


def read_native(recorded=RECORDED, **fields):
    document = {
        "schema": "evalgate.trace/1",
        "scenario_id": "a",
        "messages": recorded,
        "metadata": {"long": "x"},
        **fields,
    }
    return build(document)


def make_whole_trace(**fields):
    return make_trace(["look_up", ("pay", {"amount": 1})], "Done.", metadata={"long": "x"}, **fields)


@pytest.mark.parametrize(
    "trace",
    [
        read_native(),
        read_native(status="error", error={"type": "Timeout", "message": "too slow"}),
        make_whole_trace(),
        make_whole_trace(status="error", error={"type": "Timeout", "message": None}),
    ],
)
def test_the_excerpt_has_the_same_trajectory_and_nothing_else(trace):
    kept = make_excerpt(trace)
    assert isinstance(kept, Trace)
    assert [trace.metadata, kept.metadata] == [{"long": "x"}, {}]
    assert build_trajectory(kept) == trajectory_from_trace(trace)


@pytest.mark.parametrize(
    "trace",
    [
        make_whole_trace(user="x" * MAX_BYTES),
        make_whole_trace(status="error", error={"type": None, "message": "x" * MAX_BYTES}),
        make_trace([("pay", {"amount": 2**64})]),
        make_trace(user="\ud800"),
        read_native([{"role": "user", "content": "x" * MAX_BYTES}, *RECORDED[1:]]),
    ],
)
def test_of_a_large_trace_or_one_of_unknown_size_only_the_trajectory_is_kept(trace):
    kept = make_excerpt(trace)
    assert not isinstance(kept, Trace)
    assert build_trajectory(kept) == kept == trajectory_from_trace(trace)
