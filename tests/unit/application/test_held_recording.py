"""Of a recording that may be told of, what its course needs is kept, and no more where that is large."""

from __future__ import annotations

import pytest
from builders import make_trace

from evalgate.adapters.formats.native.at_once import read_at_once
from evalgate.application.evaluation.trajectories import MAX_BYTES, build_trajectory, make_excerpt
from evalgate.gate.trajectory.trajectories import trajectory_from_trace
from evalgate.models.trace.trace import Trace, TraceLocation

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


def glanced(recorded=RECORDED, **fields):
    document = {
        "schema": "evalgate.trace/1",
        "scenario_id": "a",
        "messages": recorded,
        "metadata": {"long": "x"},
        **fields,
    }
    found = read_at_once(document, TraceLocation("a.jsonl", "native", 1), "a")
    assert found is not None
    return found


def whole(**fields):
    return make_trace(["look_up", ("pay", {"amount": 1})], "Done.", metadata={"long": "x"}, **fields)


@pytest.mark.parametrize(
    "trace",
    [
        glanced(),
        glanced(status="error", error={"type": "Timeout", "message": "too slow"}),
        whole(),
        whole(status="error", error={"type": "Timeout", "message": None}),
    ],
)
def test_the_course_is_the_same_and_nothing_else_is_kept(trace):
    kept = make_excerpt(trace)
    assert isinstance(kept, Trace)
    assert [trace.metadata, kept.metadata] == [{"long": "x"}, {}]
    assert build_trajectory(kept) == trajectory_from_trace(trace)


def test_no_message_is_made_for_it():
    trace = glanced()
    kept = make_excerpt(trace)
    assert isinstance(kept, Trace)
    assert trace.glance is not None
    assert kept.glance is not None


@pytest.mark.parametrize(
    "trace",
    [
        whole(user="x" * MAX_BYTES),
        whole(status="error", error={"type": None, "message": "x" * MAX_BYTES}),
        make_trace([("pay", {"amount": 2**64})]),
        make_trace(user="\ud800"),
        glanced([{"role": "user", "content": "x" * MAX_BYTES}, *RECORDED[1:]]),
    ],
)
def test_of_one_that_is_large_or_of_unknown_size_the_course_is_kept(trace):
    kept = make_excerpt(trace)
    assert not isinstance(kept, Trace)
    assert build_trajectory(kept) == kept == trajectory_from_trace(trace)
