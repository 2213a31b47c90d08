import pytest
from assess_assertion import assess, first_problem, outcome
from builders import make_call, make_trace
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.lists(st.sampled_from("abc"), max_size=24)


def trace_of(names):
    return make_trace(calls=list(names))


def loops(names, most=3):
    return outcome({"type": "no_loops", "max_repeats": most}, trace_of(names))


@pytest.mark.parametrize(
    ("names", "most", "expected"),
    [
        ("", 1, "passed"),
        ("aaa", 3, "passed"),
        ("aaaa", 3, "failed"),
        ("xaaaay", 3, "failed"),
        ("aabaabaa", 3, "passed"),
        ("abababab", 3, "failed"),
        ("xabcabcabcabcx", 3, "failed"),
        ("ababab", 3, "passed"),
        ("aa", 1, "failed"),
        ("abab", 1, "failed"),
        ("aba", 1, "passed"),
    ],
)
def test_no_loops__calls_and_cycles_may_repeat_up_to_the_limit(names, most, expected):
    assert loops(names, most) == expected


def test_no_loops__three_repeats_are_the_default():
    assert outcome({"type": "no_loops"}, trace_of("aaa")) == "passed"
    assert outcome({"type": "no_loops"}, trace_of("aaaa")) == "failed"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([{"q": 1}] * 4, "failed"),
        ([{"q": 1}, {"q": 2}, {"q": 3}, {"q": 4}], "passed"),
        ([{"q": 1}, {"q": 1.0}, {"q": 1}, {"q": 1}], "failed"),
        ([{"q": 1}, {"q": True}, {"q": 1}, {"q": 1}], "passed"),
        ([{"q": 1, "p": [2]}, {"p": [2], "q": 1}, {"q": 1, "p": [2]}, {"q": 1, "p": [2]}], "failed"),
    ],
)
def test_no_loops__the_same_call_has_the_same_arguments(arguments, expected):
    trace = make_trace(calls=[("search", each) for each in arguments])
    assert outcome({"type": "no_loops"}, trace) == expected


def test_no_loops__names_the_call_how_often_and_where():
    trace = make_trace(calls=["start", *[("search", {"q": "tea"})] * 5])
    assert assess({"type": "no_loops"}, trace).reason == (
        'expected at most 3 equal calls in a row, got 5 of `search` with `{"q":"tea"}` (calls 2 to 6)'
    )


def test_no_loops__names_the_cycle():
    reason = assess({"type": "no_loops", "max_repeats": 2}, trace_of("xababab")).reason
    assert reason == "expected at most 2 equal cycles in a row, got 3 of the cycle `a`, `b` (calls 2 to 7)"


def uncaptured(name, raw=None):
    return {**make_call(name), "arguments": None, "arguments_raw": raw}


def test_no_loops__of_calls_whose_arguments_were_not_captured_are_not_evaluable():
    trace = make_trace(calls=[uncaptured("a")] * 4)
    assert outcome({"type": "no_loops"}, trace) == "not_evaluable"
    assert outcome({"not": {"type": "no_loops"}}, trace) == "not_evaluable"
    assert outcome({"type": "no_loops"}, make_trace(calls=[uncaptured("a")] * 3)) == "passed"


def test_no_loops__broken_arguments_are_compared_as_they_were_written():
    assert outcome({"type": "no_loops"}, make_trace(calls=[uncaptured("a", "{")] * 4)) == "failed"
    others = [uncaptured("a", "{" * count) for count in range(1, 5)]
    assert outcome({"type": "no_loops"}, make_trace(calls=others)) == "passed"


def test_no_loops__of_the_user_simulator_are_not_the_agents():
    calls = [make_call("poke", index=index, requestor="user") for index in range(9)]
    assert outcome({"type": "no_loops"}, make_trace(calls=calls)) == "passed"


@given(NAMES, st.integers(1, 4))
def test_no_loops__stricter_limit_never_turns_fail_into_pass(names, most):
    if loops(names, most + 1) == "failed":
        assert loops(names, most) == "failed"


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "3", 1_001])
def test_no_loops__invalid_limit_is_an_error_of_the_suite(most):
    assert first_problem({"type": "no_loops", "max_repeats": most}).path[1] == "max_repeats"
