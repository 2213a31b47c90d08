"""Calls of every chain of model calls are in the trace, with who made them and the call that started that agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from chain_builders import APIS, ONE_CALL, SUB, delegate
from recorded_cassettes import TRIAL

from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.models.run import ProcessRun

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import Exchange

pytestmark = pytest.mark.parametrize("call", APIS)


def trace_of(*exchanges: Exchange) -> Any:
    return build_trace(exchanges, ProcessRun(TRIAL, "t"))


def acted(trace: Any) -> list[tuple[str, str, int | None, Any]]:
    return [(call["name"], call["actor"], call["started_by"], call["result_text"]) for call in trace.tool_calls]


def test_calls_of_a_sub_agent_are_in_the_trace_and_its_messages_are_not(call):
    trace = trace_of(*delegate(call))
    assert acted(trace) == [
        ("delegate", "root", None, "sub done"),
        ("delete_db", "root/agent", 0, "dropped"),
    ]
    assert [message["content"] for message in trace.messages] == ["MAIN", "go", None, "sub done", "All tidy."]
    assert [(call["step"], call["turn"]) for call in trace.tool_calls] == [(1, 1), (2, 1)]
    assert [(call["step"], call["turn"]) for call in trace.llm_calls] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert (trace.response["content"], trace.gaps, trace.warnings) == ("All tidy.", {}, [])


def test_a_sub_agent_with_the_instructions_of_the_main_one_is_no_compaction(call):
    trace = trace_of(*delegate(call, system="MAIN"))
    assert acted(trace) == [
        ("delegate", "root", None, "sub done"),
        ("delete_db", "root/agent", 0, "dropped"),
    ]
    assert trace.warnings == []


def test_a_copy_of_the_conversation_is_another_agent(call):
    fork = [*ONE_CALL, ("result", ("m1", "you are a copy"))]
    trace = trace_of(
        call("MAIN", ONE_CALL[:1], ONE_CALL[1:], 1.0),
        call("MAIN", fork, [("ask", {"f1": "delete_db"})], 2.0),
        call("MAIN", [*fork, ("ask", {"f1": "delete_db"}), ("result", ("f1", "x"))], [("say", "copied")], 3.0),
        call("MAIN", [*ONE_CALL, ("result", ("m1", "copied"))], [("say", "end")], 4.0),
    )
    assert acted(trace) == [("delegate", "root", None, "copied"), ("delete_db", "root/agent", 0, "x")]
    assert trace.response["content"] == "end"


def test_two_agents_of_two_calls_in_flight_have_no_known_starter(call):
    asked = [("user", "go"), ("ask", {"m1": "delegate", "m2": "delegate"})]
    trace = trace_of(
        call("MAIN", asked[:1], asked[1:], 1.0),
        call("SUB", [("user", "one")], [("ask", {"a": "read"})], 2.0),
        call("SUB", [("user", "two")], [("ask", {"b": "write"})], 3.0),
        call("SUB", [("user", "two"), ("ask", {"b": "write"}), ("result", ("b", "w"))], [("say", "2")], 4.0),
        call("SUB", [("user", "one"), ("ask", {"a": "read"}), ("result", ("a", "r"))], [("say", "1")], 5.0),
        call("MAIN", [*asked, ("result", ("m1", "1")), ("result", ("m2", "2"))], [("say", "end")], 6.0),
    )
    assert acted(trace) == [
        ("delegate", "root", None, "1"),
        ("delegate", "root", None, "2"),
        ("read", "root/agent", None, "r"),
        ("write", "root/agent#2", None, "w"),
    ]


def test_calls_of_two_agents_at_once_are_in_the_order_of_time(call):
    first, second = [("user", "one"), ("ask", {"a": "read"})], [("user", "two"), ("ask", {"b": "list"})]
    trace = trace_of(
        call("MAIN", ONE_CALL[:1], ONE_CALL[1:], 1.0),
        call("SUB", first[:1], first[1:], 2.0),
        call("SUB", second[:1], second[1:], 3.0),
        call("SUB", [*first, ("result", ("a", "r"))], [("ask", {"c": "write"})], 4.0),
        call("SUB", [*second, ("result", ("b", "l"))], [("ask", {"d": "mail"})], 5.0),
        call("MAIN", [*ONE_CALL, ("result", ("m1", "x"))], [("say", "end")], 6.0),
    )
    assert [(name, actor) for name, actor, _, _ in acted(trace)] == [
        ("delegate", "root"),
        ("read", "root/agent"),
        ("list", "root/agent#2"),
        ("write", "root/agent"),
        ("mail", "root/agent#2"),
    ]


def test_a_request_for_a_structure_is_a_helper(call):
    main = delegate(call)
    helper = call("Extract", [("user", "a date")], [("ask", {"h": "make_date"})], 2.5, "make_date")
    trace = trace_of(*main, helper)
    assert [(name, actor) for name, actor, _, _ in acted(trace)][-1] == ("make_date", "helper#1")
    assert trace.called == ["delegate", "delete_db"]
    assert [each["name"] for each in trace.helper_calls] == ["make_date"]
    assert trace.warnings == []


def test_a_forced_call_that_was_answered_is_an_agents(call):
    first = [("user", "a date"), ("ask", {"h": "make_date"})]
    trace = trace_of(
        *delegate(call),
        call("Extract", first[:1], first[1:], 2.4, "make_date"),
        call("Extract", [*first, ("result", ("h", "ok"))], [("say", "x")], 2.5, "make_date"),
    )
    assert "make_date" in trace.called


def test_a_forced_call_of_the_only_chain_is_the_agents(call):
    trace = trace_of(call("MAIN", [("user", "go")], [("ask", {"h": "make_date"})], 1.0, "make_date"))
    assert acted(trace) == [("make_date", "root", None, None)]


def test_a_helper_without_calls_is_no_agent(call):
    trace = trace_of(*delegate(call), call("Title", [("user", "name this")], [("say", "Tidy")], 1.5))
    assert {actor for _, actor, _, _ in acted(trace)} == {"root", "root/agent"}


def test_calls_in_the_first_request_of_another_agent_are_not_its_own(call):
    examples = [("user", "eg"), ("ask", {"x": "example"}), ("result", ("x", "y")), ("user", "sub")]
    trace = trace_of(
        call("MAIN", ONE_CALL[:1], ONE_CALL[1:], 1.0),
        call("SUB", examples, [("ask", {"s1": "delete_db"})], 2.0),
        call("SUB", [*examples, ("ask", {"s1": "delete_db"}), ("result", ("s1", "ok"))], [("say", "done")], 3.0),
        call("MAIN", [*ONE_CALL, ("result", ("m1", "x"))], [("say", "end")], 4.0),
    )
    assert [name for name, *_ in acted(trace)] == ["delegate", "delete_db"]


def test_calls_before_the_messages_were_made_shorter_are_kept(call):
    before = [("user", "go"), ("ask", {"a": "read"}), ("result", ("a", "r")), ("ask", {"b": "delete_db"})]
    summary = [("user", "so far: read and deleted"), ("ask", {"c": "write"})]
    trace = trace_of(
        call("MAIN", before[:1], before[1:2], 1.0),
        call("MAIN", before[:3], before[3:], 2.0),
        call("MAIN", summary[:1], summary[1:], 3.0),
        call("MAIN", [*summary, ("result", ("c", "w"))], [("say", "end")], 4.0),
    )
    assert acted(trace) == [
        ("read", "root", None, "r"),
        ("delete_db", "root", None, None),
        ("write", "root", None, "w"),
    ]
    assert trace.gaps.keys() == {"messages"}


def test_calls_that_a_shorter_conversation_keeps_count_once(call):
    before = [("user", "go"), ("ask", {"a": "read"}), ("result", ("a", "r")), ("ask", {"b": "mail"})]
    kept = [("user", "so far"), *before[3:], ("result", ("b", "m"))]
    trace = trace_of(
        call("MAIN", before[:1], before[1:2], 1.0),
        call("MAIN", before[:3], before[3:], 2.0),
        call("MAIN", kept, [("say", "end")], 3.0),
    )
    assert [(name, result) for name, _, _, result in acted(trace)] == [("read", "r"), ("mail", "m")]


def test_a_call_asked_twice_by_the_same_request_is_not_lost(call):
    """The first answer was thrown away, or the agent ran it: the trace can't tell."""
    talk = [("user", "go")]
    trace = trace_of(
        call("MAIN", talk, [("ask", {"a": "delete_db"})], 1.0),
        call("MAIN", talk, [("ask", {"b": "read"})], 2.0),
        call("MAIN", [*talk, ("ask", {"b": "read"}), ("result", ("b", "r"))], [("say", "end")], 3.0),
    )
    assert sorted(name for name, *_ in acted(trace)) == ["delete_db", "read"]


def test_what_other_agents_were_told_is_in_the_metadata_each_once(call):
    twice = [*delegate(call), call("SUB", SUB[:1], [("say", "again")], 5.0), call("MAIN", SUB[:1], [("say", "x")], 6.0)]
    told = trace_of(*twice).metadata["evalgate.agents"]
    assert told == [{"system_instructions": "SUB", "tool_definitions": []}]


def test_one_agent_alone_has_no_such_metadata(call):
    talk = [*ONE_CALL, ("result", ("m1", "ok"))]
    trace = trace_of(call("MAIN", ONE_CALL[:1], ONE_CALL[1:], 1.0), call("MAIN", talk, [("say", "end")], 2.0))
    assert "evalgate.agents" not in trace.metadata
