import pytest
from assess_assertion import assess, first_problem, outcome
from builders import make_call, make_message, make_trace
from hypothesis import given
from hypothesis import strategies as st

METERED = make_trace(input_tokens=900, output_tokens=100)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"max_total": 1_000}, "passed"),
        ({"max_total": 999}, "failed"),
        ({"max_input": 900}, "passed"),
        ({"max_input": 899}, "failed"),
        ({"max_output": 100}, "passed"),
        ({"max_output": 99}, "failed"),
        ({"max_input": 900, "max_output": 99}, "failed"),
        ({"max_input": 900, "max_output": 100, "max_total": 1_000}, "passed"),
    ],
)
def test_token_limit__includes_the_limit_itself(limits, expected):
    assert outcome({"type": "token_limit", **limits}, METERED) == expected


def test_token_limit__of_unknown_tokens_is_not_evaluable():
    found = assess({"type": "token_limit", "max_total": 1}, make_trace())
    assert (found.outcome, found.reason) == ("not_evaluable", "total tokens unknown")
    half = make_trace(input_tokens=900)
    assert outcome({"type": "token_limit", "max_input": 900, "max_output": 1}, half) == "not_evaluable"
    assert outcome({"type": "token_limit", "max_input": 1, "max_output": 1}, half) == "failed"


@pytest.mark.parametrize(
    ("raw", "reason", "negated_reason"),
    [
        ({"type": "cost_limit", "max_usd": 0.5}, "cost <= 0.5 USD", "cost 0.25 USD, limit 0.5 USD"),
        ({"type": "latency_limit", "max_seconds": 2}, "latency <= 2 s", "latency 1.5 s, limit 2 s"),
        (
            {"type": "token_limit", "max_total": 2000},
            "total tokens <= 2,000",
            "total tokens 1,000, limit 2,000",
        ),
    ],
)
def test_limit__that_holds_is_named_and_a_negated_one_shows_the_measured_value(raw, reason, negated_reason):
    trace = make_trace(cost_usd=0.25, latency_seconds=1.5, input_tokens=900, output_tokens=100)
    assert assess(raw, trace).reason == reason
    found = assess({**raw, "negate": True}, trace)
    assert (found.outcome, found.reason) == ("failed", f"must not hold, but does: {negated_reason}")


def test_token_limit__names_tokens_and_limit():
    reason = assess({"type": "token_limit", "max_total": 10, "max_output": 1}, METERED).reason
    assert reason == "total tokens 1,000, limit 10; output tokens 100, limit 1"


@pytest.mark.parametrize(("most", "expected"), [(2, "passed"), (1, "failed")])
def test_turn_limit__counts_user_exchanges(most, expected):
    trace = make_trace(calls=["search"], turns=[("hello", "hi")])
    found = assess({"type": "turn_limit", "max_turns": most}, trace)
    assert (found.outcome, found.reason) == (expected, f"2 turns, limit {most}")


def test_turn_limit__without_messages_is_not_evaluable():
    trace = make_trace()
    trace.messages = []
    assert outcome({"type": "turn_limit", "max_turns": 9}, trace) == "not_evaluable"
    trace.messages = [make_message(turn=0, role="system")]
    assert outcome({"type": "turn_limit", "max_turns": 0}, trace) == "passed"


def timed(*durations, tool="search", requestor="assistant"):
    calls = [make_call(tool, index=index, requestor=requestor) for index in range(len(durations))]
    for call, duration in zip(calls, durations, strict=True):
        call["duration_ms"] = duration
    return make_trace(calls=calls)


@pytest.mark.parametrize(
    ("durations", "expected"),
    [
        ([2_000], "passed"),
        ([500, 2_000.0000001], "passed"),
        ([500, 2_001], "failed"),
        ([500, None], "not_evaluable"),
        ([None], "not_evaluable"),
        ([2_001, None], "failed"),
        ([0], "passed"),
        ([], "not_evaluable"),
    ],
)
@pytest.mark.parametrize("negate", [False, True])
def test_tool_latency_limit__holds_for_every_call(durations, expected, negate):
    swapped = {"passed": "failed", "failed": "passed"}.get(expected, expected) if negate else expected
    raw = {"type": "tool_latency_limit", "tool": "search", "max_seconds": 2, "negate": negate}
    assert outcome(raw, timed(*durations)) == swapped


def test_tool_latency_limit__judges_the_agents_calls_of_one_tool():
    raw = {"type": "tool_latency_limit", "tool": "search", "max_seconds": 2}
    assert outcome(raw, timed(9_000, tool="fetch")) == "not_evaluable"
    assert outcome(raw, timed(9_000, requestor="user")) == "not_evaluable"


def test_tool_latency_limit__names_the_slowest_call():
    raw = {"type": "tool_latency_limit", "tool": "search", "max_seconds": 2}
    assert assess(raw, timed(100, 3_500)).reason == "slowest call of `search` 3.5 s (call 2), limit 2 s"


@pytest.mark.parametrize(("recorded", "expected"), [("stop", "passed"), ("length", "failed"), (None, "not_evaluable")])
def test_finish_reason__is_one_of_the_given(recorded, expected):
    raw = {"type": "finish_reason", "in": ["stop", "tool_calls"]}
    assert outcome(raw, make_trace(finish_reason=recorded)) == expected


def test_finish_reason__is_that_of_the_answer_if_the_run_has_none():
    trace = make_trace()
    trace.response["finish_reason"] = "length"
    found = assess({"type": "finish_reason", "in": ["stop"]}, trace)
    assert (found.outcome, found.reason) == ("failed", 'finish reason `length`, expected one of `["stop"]`')


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_limits__stricter_never_turns_fail_into_pass(used, limit, less):
    trace = timed(used * 1_000)
    trace.usage["total_tokens"] = used
    for raw, name in (
        ({"type": "token_limit"}, "max_total"),
        ({"type": "tool_latency_limit", "tool": "search"}, "max_seconds"),
    ):
        if outcome({**raw, name: limit}, trace) == "failed":
            assert outcome({**raw, name: max(0, limit - less)}, trace) == "failed"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"type": "token_limit"}, "type"),
        ({"type": "token_limit", "max_total": -1}, "max_total"),
        ({"type": "token_limit", "max_total": True}, "max_total"),
        ({"type": "token_limit", "max_total": "9"}, "max_total"),
        ({"type": "turn_limit", "max_turns": 1.5}, "max_turns"),
        ({"type": "tool_latency_limit", "tool": "a", "max_seconds": float("inf")}, "max_seconds"),
        ({"type": "tool_latency_limit", "tool": "a", "max_seconds": False}, "max_seconds"),
        ({"type": "finish_reason", "in": []}, "in"),
        ({"type": "finish_reason", "in": "stop"}, "in"),
        ({"type": "finish_reason", "in": [True]}, "in"),
        ({"type": "finish_reason", "in": ["stop"], "allowed": ["stop"]}, "allowed"),
    ],
)
def test_limits__that_are_invalid_are_errors_of_the_suite(raw, field):
    assert first_problem(raw).path[1] == field
