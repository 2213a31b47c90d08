from __future__ import annotations

import pytest
from builders import make_call, make_message, make_trace

from evalgate.adapters.formats.open.stored_traces import encode_stored_trace, read_stored_trace
from evalgate.gate.trajectory.trajectory_diff import MOST_CALLS, trajectory_from_trace

SECRET = "ghp_" + "a1B2" * 9


TRACES = [
    make_trace(),
    make_trace([("look_up", {"id": 1}), "mail"], turns=[("hi", "hello")]),
    make_trace([("auth", {"password": "hunter2", "note": f"key {SECRET}"})], f"the key is {SECRET}"),
    make_trace([make_call("f", result={"a": 1}, status="error")], None, status="error", error={"type": "E", "message": None}),
    make_trace([make_call("f", result=f"token {SECRET}"), make_call("g", requestor="user", index=1)]),
    make_trace([("write", {"text": "x" * 9_000})]),
]  # fmt: skip


@pytest.mark.parametrize("trace", TRACES, ids=range(len(TRACES)))
def test_a_trace_and_its_stored_form_have_the_same_trajectory(trace):
    assert trajectory_from_trace(trace) == trajectory_from_trace(read_stored_trace(encode_stored_trace(trace)))


def test_calls_of_a_simulated_user_are_not_in_the_trajectory():
    trajectory = trajectory_from_trace(make_trace([make_call("pay", requestor="user"), make_call("check", index=1)]))
    assert [call.name for call in trajectory.calls] == ["check"]


def test_the_final_answer_is_not_text_of_a_turn():
    trajectory = trajectory_from_trace(make_trace(["f"], "Done.", turns=[("hi", "hello")]))
    assert trajectory.response == "Done."
    assert {number: (turn.user, turn.agent) for number, turn in trajectory.turns.items()} == {
        1: ("hi", "hello"),
        2: ("Hello", ""),
    }


def test_arguments_that_are_not_json_are_compared_as_text():
    call = make_call("f")
    call["arguments"], call["arguments_raw"] = None, "{broken"
    assert trajectory_from_trace(make_trace([call])).calls[0].arguments == "{broken"


def test_calls_over_the_limit_are_counted():
    trajectory = trajectory_from_trace(make_trace(["f"] * (MOST_CALLS + 7)))
    assert (len(trajectory.calls), trajectory.left_out) == (MOST_CALLS, 7)


def test_secrets_are_redacted():
    assert SECRET not in repr(trajectory_from_trace(make_trace([("f", {"key": SECRET})], SECRET, user=SECRET)))


def test_a_long_answer_is_kept_in_bounded_size():
    trace = make_trace(["f"], "word " * 300_000)
    trace.messages.append(make_message(9, "assistant", "x" * 1_000_000))
    assert len(repr(trajectory_from_trace(trace))) < 60_000
