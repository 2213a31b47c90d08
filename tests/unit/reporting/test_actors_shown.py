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
