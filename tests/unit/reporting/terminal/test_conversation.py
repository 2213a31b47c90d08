"""A trace as a conversation in a terminal."""

from __future__ import annotations

from builders import make_call, make_trace

from evalgate.reporting.terminal.conversation import render_conversation


def test_a_cost_that_is_unknown_says_why():
    trace = make_trace()
    shown = " ".join(render_conversation(trace).split())
    assert "cost unknown (neither a cost nor a model with the tokens of all its calls is recorded), latency" in shown
    trace.cost = {"usd": 1.5, "source": "recorded"}
    assert "cost 1.50 USD, latency" in render_conversation(trace)


def test_calls_have_the_numbers_by_which_reasons_name_them():
    calls = [
        make_call("status", requestor="user", index=0),
        make_call("plan", index=1),
        make_call("status", requestor="user", index=2),
        make_call("book", index=3),
    ]
    shown = [line.strip() for line in render_conversation(make_trace(calls)).splitlines() if "call" in line]
    assert [line.split(" {")[0] for line in shown if line.startswith("call")] == [
        *("call of the user: status", "call 1 plan", "call of the user: status", "call 2 book")
    ]
