from __future__ import annotations

import pytest
from builders import make_call, make_trace
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import astuple

from evalgate.gate.trajectory.trajectory_diff import MOST_STEPS, diff_trajectories, trajectory_from_trace
from evalgate.models.comparison.trajectory import CallPosition, FirstDivergence, TextPair

LOOK, PAY, MAIL = ("look_up", {"id": 1}), ("pay", {"amount": 10}), ("mail", {"to": "a"})


def diff_traces(before, now):
    return diff_trajectories(trajectory_from_trace(before), trajectory_from_trace(now), 0, 3)


def kinds(found):
    return [(step.kind, step.name) for step in found.steps]


def test_removed_added_changed_and_equal_calls_are_distinguished():
    found = diff_traces(make_trace([LOOK, PAY, MAIL]), make_trace([LOOK, ("pay", {"amount": 99}), ("log", {})]))
    assert kinds(found) == [("same", "look_up"), ("changed", "pay"), ("removed", "mail"), ("added", "log")]
    assert [astuple(each) for each in found.steps[1].changes] == [("amount", "10", "99")]
    assert (found.trial_before, found.trial) == (0, 3)


def test_calls_are_located_by_turn_and_number():
    found = diff_traces(make_trace([LOOK], turns=[("hi", "hello")]), make_trace([PAY, LOOK], turns=[("hi", "hello")]))
    added, same = found.steps
    assert (added.baseline, added.current) == (None, CallPosition(2, 1))
    assert (same.baseline, same.current) == (CallPosition(2, 1), CallPosition(2, 2))


@pytest.mark.parametrize(
    ("now", "first"),
    [
        (make_trace([LOOK, PAY]), None),
        (make_trace([LOOK, MAIL]), FirstDivergence(1, "calls", 2, None)),
        (make_trace([LOOK, ("pay", {"amount": 1})]), FirstDivergence(1, "calls", 2, 2)),
        (make_trace([LOOK, PAY], user="Hello!"), FirstDivergence(1, "user", None, None)),
        (make_trace([LOOK, PAY], "Finished."), FirstDivergence(1, "answer", None, None)),
        (make_trace([LOOK, PAY], None), FirstDivergence(1, "answer", None, None)),
        (make_trace([LOOK, PAY], status="incomplete"), FirstDivergence(1, "end", None, None)),
        (
            make_trace([LOOK, make_call("pay", {"amount": 10}, index=1, status="error")]),
            FirstDivergence(1, "calls", 2, 2),
        ),
    ],
)
def test_the_first_divergence_is_reported(now, first):
    assert diff_traces(make_trace([LOOK, PAY]), now).first == first


def test_the_first_divergence_is_in_the_earliest_turn_and_in_text_only_if_nothing_else_differs():
    before = make_trace([LOOK], turns=[("hi", "hello"), ("and", "so")])
    assert diff_traces(before, make_trace([PAY], turns=[("hi", "good day"), ("and", "so")])).first == FirstDivergence(
        3, "calls", 1, None
    )
    assert diff_traces(before, make_trace([PAY], turns=[("hi", "hello"), ("or", "so")])).first == FirstDivergence(
        2, "user", None, None
    )
    assert diff_traces(before, make_trace([LOOK], turns=[("hi", "good day"), ("and", "so")])).first == FirstDivergence(
        1, "words", None, None
    )


def test_texts_of_a_turn_are_paired():
    found = diff_traces(make_trace(turns=[("hi", "hello")]), make_trace(turns=[("hi", "good day")]))
    assert [astuple(utterance) for utterance in found.utterances] == [(1, "agent", "hello", "good day")]


def test_a_call_with_another_status_has_both_statuses():
    found = diff_traces(make_trace([make_call("f")]), make_trace([make_call("f", status="error", result="no")]))
    assert (found.steps[0].kind, found.steps[0].outcome) == ("same", TextPair("ok", "error"))


def test_an_equal_call_with_another_result_shows_both_results():
    found = diff_traces(make_trace([make_call("f", result="open")]), make_trace([make_call("f", result="closed")]))
    assert found.steps[0].answer == TextPair("open", "closed")
    assert found.first is None


def test_a_trace_that_ends_in_an_error_is_reported():
    now = make_trace(status="error", error={"type": "Timeout", "message": "took too long"})
    found = diff_traces(make_trace(), now)
    assert (found.status, found.error) == (TextPair("ok", "error"), TextPair(None, "took too long"))


def test_of_very_many_calls_the_different_ones_are_kept():
    calls = [("f", {"n": n}) for n in range(900)]
    found = diff_traces(make_trace(calls), make_trace([*calls[:500], ("f", {"n": -1}), *calls[501:]]))
    assert kinds(found) == [("same", "f")] * 2 + [("changed", "f")] + [("same", "f")] * 2
    assert found.steps_left == 895


def test_very_many_differences_are_cut_and_counted():
    found = diff_traces(make_trace([("f", {"n": n}) for n in range(450)]), make_trace([("g", {})] * 450))
    assert len(found.steps) == MOST_STEPS
    assert found.steps_left == 900 - MOST_STEPS


calls = st.lists(st.tuples(st.sampled_from("ab"), st.fixed_dictionaries({"x": st.integers(0, 2)})), max_size=5)


@given(calls, st.sampled_from(["Done.", "No.", None]))
def test_a_trace_compared_with_itself_has_no_difference(made, answer):
    found = diff_traces(make_trace(made, answer), make_trace(made, answer))
    assert {step.kind for step in found.steps} <= {"same"}
    assert (found.first, found.utterances, found.response, found.status, found.error) == (
        None,
        [],
        [],
        UNSET,
        UNSET,
    )


@given(calls, calls)
def test_swapping_the_sides_swaps_removed_and_added(before, now):
    def counts(one, other, kind):
        return sum(step.kind == kind for step in diff_traces(make_trace(one), make_trace(other)).steps)

    assert counts(before, now, "removed") == counts(now, before, "added")
    assert counts(before, now, "changed") == counts(now, before, "changed")


def test_new_call_that_failed_keeps_its_error_and_one_that_did_not_has_none():
    failed = make_call("pay", {"amount": 9}, index=1, status="error", result="card declined")
    found = diff_traces(make_trace([LOOK]), make_trace([LOOK, failed, MAIL]))

    assert [(step.outcome, step.answer) for step in found.steps[1:]] == [
        (TextPair(None, "error"), TextPair(None, "card declined")),
        (UNSET, UNSET),
    ]


def test_removed_call_that_failed_keeps_its_error():
    failed = make_call("pay", {"amount": 9}, index=1, status="error", result="card declined")
    found = diff_traces(make_trace([LOOK, failed]), make_trace([LOOK]))

    step = found.steps[1]
    assert (step.kind, step.outcome, step.answer) == (
        "removed", TextPair("error", None), TextPair("card declined", None),
    )  # fmt: skip


def test_call_at_another_place_is_compared_with_the_equal_call_of_the_baseline():
    failed = make_call("mail", {"to": "a"}, index=0, status="error", result="no")
    found = diff_traces(make_trace([LOOK, PAY, MAIL]), make_trace([failed, LOOK, PAY]))

    added, _, _, removed = found.steps
    assert [(added.kind, added.name), (removed.kind, removed.name)] == [("added", "mail"), ("removed", "mail")]
    assert (added.baseline, added.current) == (removed.baseline, CallPosition(1, 1))
    assert added.outcome == TextPair("ok", "error")
    assert (removed.current, removed.outcome) == (None, UNSET)


def test_call_at_another_place_that_ended_alike_has_no_outcome():
    calls = [make_call("mail", {"to": "a"}, index=at, status="error", result="no") for at in (2, 0)]
    found = diff_traces(make_trace([LOOK, PAY, calls[0]]), make_trace([calls[1], LOOK, PAY]))

    assert [(step.kind, step.outcome) for step in found.steps if step.kind != "same"] == [
        ("added", UNSET),
        ("removed", UNSET),
    ]


def in_one_message(*calls, step=1):
    return [make_call(name, arguments, step=step) for name, arguments in calls]


def test_calls_of_one_message_have_no_order_and_are_shown_in_that_of_the_baseline():
    before = make_trace([*in_one_message(LOOK, PAY), make_call("mail", {"to": "a"}, step=2)])
    now = make_trace([*in_one_message(PAY, LOOK), make_call("mail", {"to": "b"}, step=2)])
    found = diff_traces(before, now)
    assert kinds(found) == [("same", "look_up"), ("same", "pay"), ("changed", "mail")]
    assert [(each.baseline.call, each.current.call) for each in found.steps] == [(1, 2), (2, 1), (3, 3)]
    assert found.first == FirstDivergence(1, "calls", 3, 3)


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_changed_call_of_a_message_is_shown_whatever_the_order_of_the_others(is_turned):
    calls = [LOOK, ("look_up", {"id": 9}), ("find", {})]
    now = make_trace(in_one_message(*(calls[::-1] if is_turned else calls)))
    found = diff_traces(make_trace(in_one_message(LOOK, ("look_up", {"id": 2}), PAY)), now)
    assert sorted(kinds(found)) == [("added", "find"), ("changed", "look_up"), ("removed", "pay"), ("same", "look_up")]


@pytest.mark.parametrize("sides", [(1, 2), (2, 1)])
def test_calls_that_one_side_makes_one_by_one_may_stand_in_one_message_on_the_other(sides):
    one_by_one, at_once = make_trace([PAY, LOOK]), make_trace(in_one_message(LOOK, PAY))
    before, now = (one_by_one, at_once) if sides == (1, 2) else (at_once, one_by_one)
    assert diff_traces(before, now).first is None


def test_calls_of_several_or_unknown_messages_keep_their_order():
    assert diff_traces(make_trace([LOOK, PAY]), make_trace([PAY, LOOK])).first is not None
    unknown = (make_trace(in_one_message(*calls, step=0)) for calls in ((LOOK, PAY), (PAY, LOOK)))
    assert diff_traces(*unknown).first is not None


READ = {"name": "peek", "annotations": {"readOnlyHint": True}}


@pytest.mark.parametrize(
    ("before", "now", "is_sure"),
    [
        (make_trace([LOOK]), make_trace([LOOK]), True),
        (make_trace(["peek"], tool_definitions=[READ]), make_trace([LOOK]), True),
        (make_trace([], tool_definitions=[READ]), make_trace([LOOK]), True),
        (make_trace([LOOK]), make_trace([LOOK, PAY]), False),
        (make_trace([LOOK, PAY]), make_trace([LOOK]), False),
        (make_trace(["peek"]), make_trace([LOOK]), False),
        (make_trace([]), make_trace([]), False),  # nothing says that there are tools
        (make_trace([LOOK], gaps={"calls": "cut"}), make_trace([LOOK]), False),
        (make_trace([LOOK, make_call("pay", requestor="user", index=1)]), make_trace([LOOK]), False),
    ],
)
def test_that_no_call_changes_anything_is_said_only_if_it_is_sure(before, now, is_sure):
    assert diff_traces(before, now).reads_only is is_sure
