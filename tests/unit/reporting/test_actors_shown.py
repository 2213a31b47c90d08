"""`show`, the page and `traces` say who made a call, in the order of time and below the call that started that agent."""

from __future__ import annotations

from chain_builders import call_chat, delegate
from recorded_cassettes import TRIAL

from evalgate.features.page.reporting.trace_block import build_trace_block
from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.run import ProcessRun
from evalgate.reporting.terminal.conversation import render_conversation
from evalgate.reporting.terminal.trace_table import build_trace_row, render_trace_table


def traces():
    """A run with a sub-agent and a request for a structure, and one without others."""
    helper = call_chat("Extract", [("user", "a date")], [("ask", {"h": "make_date"})], 3.5, "make_date")
    several = build_trace([*delegate(call_chat), helper], ProcessRun(TRIAL, "t"))
    return several, build_trace(delegate(call_chat)[:1], ProcessRun(TRIAL, "t"))


def test_show_indents_calls_below_the_one_that_started_their_agent():
    shown = render_conversation(traces()[0]).splitlines()
    calls = [line for line in shown if "call " in line or "asked for" in line]
    assert calls[-3:] == [
        "    call 1 delegate {}",
        "        call 2 delete_db {} (agent, started by call 1)",
        "        asked for: make_date {} (helper#1, started by call 1)",
    ]
    assert shown.index(calls[-1]) < shown.index("  All tidy.")
    assert "          -> returned: dropped" in shown


def test_the_page_has_who_and_how_deep():
    parts = [part for part in build_trace_block(traces()[0])["parts"] if part["kind"] == "call"]
    assert [(part["title"], part.get("depth"), part.get("who")) for part in parts] == [
        ("delegate", None, None),
        ("delete_db", 1, "call 2: agent, started by call 1"),
        ("make_date", 1, "asked for: helper#1, started by call 1"),
    ]


def test_traces_has_a_column_where_there_are_several_agents():
    several, alone = map(build_trace_row, traces())
    assert (several["agents"], alone.get("agents")) == (2, None)
    assert "  agents  " in render_trace_table([several, alone], 200).splitlines()[0]
    assert "agents" not in render_trace_table([alone], 200)


def at_once():
    """A main agent that asks two others at once, after its second question, so that nobody knows which call started each."""
    asked = [("user", "hi"), ("say", "hello"), ("user", "go"), ("ask", {"m1": "ask_left", "m2": "ask_right"})]
    ended = [*asked, ("result", ("m1", "l")), ("result", ("m2", "r"))]
    calls = [
        call_chat("MAIN", asked[:1], asked[1:2], 1.0),
        call_chat("MAIN", asked[:3], asked[3:], 2.0),
        call_chat("LEFT", [("user", "go")], [("ask", {"l1": "look"})], 3.0),
        call_chat("RIGHT", [("user", "go")], [("ask", {"r1": "look"})], 3.1),
        call_chat("LEFT", [("user", "go"), ("ask", {"l1": "look"}), ("result", ("l1", "x"))], [("say", "l")], 4.0),
        call_chat("RIGHT", [("user", "go"), ("ask", {"r1": "look"}), ("result", ("r1", "x"))], [("say", "r")], 4.1),
        call_chat("MAIN", ended, [("say", "All tidy.")], 5.0),
    ]
    return build_trace(calls, ProcessRun(TRIAL, "t"))


def test_calls_of_agents_that_work_at_once_follow_those_that_may_have_started_them():
    trace = at_once()
    assert [call["turn"] for call in trace.tool_calls] == [2, 2, 2, 2]
    assert {call["turn"] for call in trace.llm_calls[1:]} == {2}
    shown = render_conversation(trace).splitlines()
    places = [
        next(at for at, line in enumerate(shown) if word in line) for word in ("  go", "call 1 ask", "call 2 ask")
    ]
    others = [at for at, line in enumerate(shown) if " look {}" in line]
    assert sorted(places) == places
    assert min(others) > places[-1]
    assert max(others) < shown.index("  All tidy.")


def test_a_call_of_another_agent_whose_turn_is_unknown_is_shown_in_the_order_of_time():
    trace = at_once()
    for call in trace.tool_calls[2:]:
        call["turn"] = 0
    shown = render_conversation(trace).splitlines()
    names = [line.split()[2] for line in shown if line.lstrip().startswith("call ")]
    assert names == ["ask_left", "ask_right", "look", "look"]


def test_calls_that_no_message_holds_are_shown_in_the_order_of_time():
    """The main agent replaced its messages: its calls and those that it started stand before them."""
    trace = at_once()
    for message in trace.messages:
        message["tool_calls"] = []
    for call in trace.tool_calls:
        call["turn"] = 0
    trace.tool_calls[1]["actor"], trace.tool_calls[3]["actor"] = "root/agent", "root"
    shown = render_conversation(trace).splitlines()
    names = [line.split()[1] for line in shown if line.lstrip().startswith("call ")]
    assert names == ["1", "2", "3", "4"]


def test_calls_of_an_agent_that_handed_over_come_before_those_of_the_next_one():
    """The last conversation holds what the first agent did as text, as that of Google's ADK."""
    trace = at_once()
    for call in trace.tool_calls:
        call["actor"], call["turn"] = "root", 2
    *_, asking, _ = (message for message in trace.messages if message["role"] == "assistant")
    asking["tool_calls"] = [
        {**asking["tool_calls"][0], "id": call["id"], "name": call["name"]} for call in trace.tool_calls[2:]
    ]
    shown = render_conversation(trace).splitlines()
    names = [line.split()[1] for line in shown if line.lstrip().startswith("call ")]
    assert names == ["1", "2", "3", "4"]
