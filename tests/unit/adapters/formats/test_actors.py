"""Who made each call: the main agent is `root`, a sub-agent a path of names below it."""

from __future__ import annotations

import orjson
import pytest
from readings import read_documents
from span_builders import agent, call_part, chat, genai_message, span, tool

from evalgate.adapters.formats.native import reader as native
from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.writers.native import to_native
from evalgate.errors import TraceError
from evalgate.measures.jmespath.query import Query
from evalgate.models.trace.trace_view import get_view

USER = genai_message("user", "tidy up")


def actors(trace):
    return [(call["name"], call["actor"], call["agent"], call["started_by"]) for call in trace.tool_calls]


def build_delegation():
    """A run in which the agent delegates twice to a cleaner, and the second one to a shell."""
    root = agent(0, 9000, "clerk")
    spans = [root]
    asked = chat(0, 100, (5, 5), [USER], [genai_message("assistant", call_part("delegate", "m1"))], parent=root)
    first = tool("delegate", 200, 1000, parent=root, call_id="m1")
    cleaner = agent(210, 990, "cleaner", parent=first)
    spans += [asked, first, cleaner, tool("sweep", 300, 310, parent=cleaner)]
    second = tool("delegate", 2000, 3000, parent=root)
    again = agent(2010, 2990, "cleaner", parent=second)
    within = tool("ask_shell", 2020, 2980, parent=again)
    shell = agent(2030, 2970, "a/shell#1", parent=within)
    spans += [second, again, within, shell, tool("delete_db", 2100, 2110, parent=shell)]
    return build(spans)


def test_agents_of_spans_have_the_path_of_those_that_started_them():
    assert actors(build_delegation()) == [
        ("delegate", "root", "clerk", None),
        ("sweep", "root/cleaner", "cleaner", 0),
        ("delegate", "root", "clerk", None),
        ("ask_shell", "root/cleaner#2", "cleaner", 2),
        ("delete_db", "root/cleaner#2/a_shell_1", "a/shell#1", 3),
    ]


def test_an_agent_that_takes_over_is_root_and_has_its_own_name():
    one, other = agent(0, 900, "triage"), agent(1000, 1900, "billing")
    asked = chat(0, 100, (5, 5), [USER], [genai_message("assistant", call_part("hand_over", "m1"))], parent=one)
    answered = chat(1000, 1100, (5, 5), [USER], [genai_message("assistant", "done")], parent=other)
    trace = build([one, other, asked, answered, tool("refund", 1200, 1210, parent=other)])
    assert [(name, actor, who) for name, actor, who, _ in actors(trace)] == [
        ("hand_over", "root", "triage"),
        ("refund", "root", "billing"),
    ]


def test_an_agent_without_a_name_around_one_with_a_name_is_no_agent_of_its_own():
    root = agent(0, 9000, "clerk")
    asked = chat(0, 100, (5, 5), [USER], [genai_message("assistant", call_part("ask", "m1"))], parent=root)
    delegate = tool("ask", 200, 1000, parent=root, call_id="m1")
    around = agent(205, 995, None, parent=delegate)
    inner = agent(210, 990, "cleaner", parent=around)
    trace = build([root, asked, delegate, around, inner, tool("sweep", 300, 310, parent=inner)])
    assert actors(trace)[1] == ("sweep", "root/cleaner", "cleaner", 0)


@pytest.mark.parametrize("above", [None, "serve"])
def test_a_tool_that_asks_a_model_is_an_agent_where_the_tracer_knows_none(above):
    outer = span("work", 0, 9000) if above is None else tool(above, 0, 9000)
    asked = chat(0, 100, (5, 5), [USER], [genai_message("assistant", call_part("ask", "m1"))], parent=outer)
    delegate = tool("ask", 200, 1000, parent=outer, call_id="m1")
    sweep = genai_message("assistant", call_part("sweep", "s1"))
    within = chat(210, 300, (5, 5), [genai_message("user", "sweep")], [sweep], parent=delegate)
    swept = tool("sweep", 310, 320, parent=delegate, call_id="s1")
    made = {name: (actor, by) for name, actor, _, by in actors(build([outer, asked, delegate, within, swept]))}
    assert (made["ask"], made["sweep"]) == (("root", None), ("root/agent", 0 if above is None else made["sweep"][1]))


def test_a_run_without_model_calls_has_the_outermost_agent_as_root():
    root = agent(0, 900, "clerk")
    inner = agent(100, 800, "cleaner", parent=root)
    trace = build([root, inner, tool("plan", 10, 20, parent=root), tool("sweep", 110, 120, parent=inner)])
    assert [(name, actor) for name, actor, _, _ in actors(trace)] == [("plan", "root"), ("sweep", "root/cleaner")]


def test_jmespath_reads_agent_and_actor():
    view = get_view(build_delegation())
    assert Query("tool_calls[?agent=='cleaner'].name").search(view) == ["sweep", "ask_shell"]
    assert Query("tool_calls[?actor!='root'] | length(@)").search(view) == 3
    assert Query("turns[].actor | [0]").search(view) == "root"


def test_a_native_trace_keeps_them():
    trace = build_delegation()
    again = native.build(orjson.loads(orjson.dumps(to_native(trace))))
    assert actors(again) == actors(trace)


def test_a_native_message_says_who_spoke():
    calls = [{"id": "c", "name": "sweep", "arguments": {}}]
    document = {
        "schema": "evalgate.trace/1",
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "agent": "cleaner", "actor": "root/cleaner", "tool_calls": calls},
        ],
    }
    trace = native.build(document)
    assert actors(trace) == [("sweep", "root/cleaner", "cleaner", None)]
    assert trace.messages[1]["actor"] == "root/cleaner"
    assert trace.messages[0]["actor"] == "root"
    assert trace.warnings == []


def read_calls(*calls):
    return native.build({"schema": "evalgate.trace/1", "messages": [{"role": "user"}], "tool_calls": list(calls)})


def test_actors_of_several_names_are_unknown_in_traces_of_before():
    mixed = read_calls({"name": "a"}, {"name": "b", "agent": "cleaner"})
    assert [call["actor"] for call in mixed.tool_calls] == [None, None]
    alone = read_calls({"name": "a", "agent": "cleaner"}, {"name": "b", "agent": "cleaner"})
    assert [call["actor"] for call in alone.tool_calls] == ["root", "root"]
    stated = read_calls({"name": "a", "actor": "root"}, {"name": "b", "agent": "cleaner", "actor": None})
    assert [call["actor"] for call in stated.tool_calls] == ["root", None]


def test_the_call_that_started_an_agent_has_to_exist():
    with pytest.raises(TraceError, match=r"tool_calls\[0\].started_by is not the index of a call"):
        read_calls({"name": "a", "started_by": 1})


def line(number, parent, *blocks, **more):
    role = "user" if blocks[0].get("type") == "tool_result" or blocks[0].get("role") == "user" else "assistant"
    message = {"role": role, "id": f"m{number}", "model": "x", "content": list(blocks)}
    return {"type": role, "session_id": "s", "parent_tool_use_id": parent, "message": message, **more}


def use(call_id, name, **arguments):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def read_claude(*lines):
    (trace,) = read_documents("claude-code", list(lines))
    return [(c["name"], c.get("actor", "root"), c.get("started_by")) for c in trace["tool_calls"]]


def test_parallel_agents_of_a_session_are_in_the_order_of_time():
    def at(second):
        return {"timestamp": f"2026-11-01T00:00:{second:02}Z"}

    assert read_claude(
        line(1, None, use("t1", "Task", subagent_type="a"), use("t2", "Task", subagent_type="a"), **at(1)),
        line(2, "t1", use("x1", "Read"), **at(2)),
        line(3, "t1", use("x2", "Edit"), **at(6)),
        line(4, "t2", use("y1", "Bash"), **at(4)),
        line(5, None, use("t3", "Write"), **at(9)),
    ) == [
        ("Task", "root", None),
        ("Task", "root", None),
        ("Read", "root/a", 0),
        ("Bash", "root/a#2", 1),
        ("Edit", "root/a", 0),
        ("Write", "root", None),
    ]


def test_without_times_an_agent_follows_the_call_that_started_it():
    assert read_claude(
        line(1, None, use("t1", "Task", subagent_type="a"), use("t2", "Task", subagent_type="b")),
        line(2, "t1", use("x1", "Read")),
        line(4, "t2", use("y1", "Agent", subagent_type="c")),
        line(3, "t1", use("x2", "Edit")),
        line(5, "y1", use("z1", "Bash")),
        line(6, None, use("t3", "Write")),
    ) == [
        ("Task", "root", None),
        ("Task", "root", None),
        ("Read", "root/a", 0),
        ("Edit", "root/a", 0),
        ("Agent", "root/b", 1),
        ("Bash", "root/b/c", 4),
        ("Write", "root", None),
    ]
