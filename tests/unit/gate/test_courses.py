from __future__ import annotations

import orjson
import pytest
from builders import make_call, make_message, make_trace

from evalgate.gate.trajectory.trajectories import MOST_CALLS, trajectory_from_document, trajectory_from_trace
from evalgate.measures.redaction.redact import redact_value
from evalgate.models.trace.trace_document import encode_trace

SECRET = "ghp_" + "a1B2" * 9


def stored(trace):
    return orjson.loads(orjson.dumps(redact_value(encode_trace(trace))))


TRACES = [
    make_trace(),
    make_trace([("look_up", {"id": 1}), "mail"], turns=[("hi", "hello")]),
    make_trace([("auth", {"password": "hunter2", "note": f"key {SECRET}"})], f"the key is {SECRET}"),
    make_trace([make_call("f", result={"a": 1}, status="error")], None, status="error", error={"type": "E", "message": None}),
    make_trace([make_call("f", result=f"token {SECRET}"), make_call("g", requestor="user", index=1)]),
    make_trace([("write", {"text": "x" * 9_000})]),
]  # fmt: skip


@pytest.mark.parametrize("trace", TRACES, ids=range(len(TRACES)))
def test_a_trace_and_what_a_baseline_keeps_of_it_have_the_same_course(trace):
    assert trajectory_from_trace(trace) == trajectory_from_document(stored(trace))


def test_calls_of_a_simulated_user_are_not_the_agents():
    course = trajectory_from_trace(make_trace([make_call("pay", requestor="user"), make_call("check", index=1)]))
    assert [call.name for call in course.calls] == ["check"]


def test_the_final_answer_is_no_turns_words():
    course = trajectory_from_trace(make_trace(["f"], "Done.", turns=[("hi", "hello")]))
    assert course.response == "Done."
    assert {number: (turn.user, turn.agent) for number, turn in course.turns.items()} == {
        1: ("hi", "hello"),
        2: ("Hello", ""),
    }


def test_arguments_that_are_no_json_are_compared_as_text():
    call = make_call("f")
    call["arguments"], call["arguments_raw"] = None, "{broken"
    assert trajectory_from_trace(make_trace([call])).calls[0].arguments == "{broken"


def test_more_calls_than_are_kept_are_counted():
    course = trajectory_from_trace(make_trace(["f"] * (MOST_CALLS + 7)))
    assert (len(course.calls), course.left_out) == (MOST_CALLS, 7)


def test_secrets_are_taken_out():
    assert SECRET not in repr(trajectory_from_trace(make_trace([("f", {"key": SECRET})], SECRET, user=SECRET)))


def test_an_answer_of_a_megabyte_is_kept_in_little_room():
    trace = make_trace(["f"], "word " * 300_000)
    trace.messages.append(make_message(9, "assistant", "x" * 1_000_000))
    assert len(repr(trajectory_from_trace(trace))) < 60_000


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"messages": 1, "tool_calls": "x", "response": [], "error": 7, "status": None},
        {"messages": [1, {"role": "user", "content": 5}], "tool_calls": [None, {"name": 3, "turn": -1}]},
        {"tool_calls": [{"turn": 2**70, "arguments": [[]], "result": {"a": 2**70}}]},
        {"response": {"content": {}, "message_index": "1"}, "error": {"message": [], "type": {}}},
    ],
)
def test_a_document_of_another_shape_is_passed_over(document):
    course = trajectory_from_document(document)
    assert course.response is None
    assert all(call.turn == 0 for call in course.calls)
