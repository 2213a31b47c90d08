"""Spans of one tool, one below the other, are one call only where nothing tells them apart: no call vanishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from span_builders import agent, call_part, chat, genai_message, response_part, span, tool

from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.spans.span import SpanFile
from evalgate.adapters.formats.spans.span_records import build as build_run
from evalgate.adapters.formats.spans.span_records import runs_from_file
from hostile.suite_edits import suite, write
from hostile.whole_run.executed_calls import otlp

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.adapters.formats.spans.span import Span

USER = genai_message("user", "Refund order 7, please.")
ANSWER = genai_message("assistant", "Refunded.", finish="stop")
ASKED = genai_message("assistant", call_part("refund", "c1", order=7), finish="tool_call")


def calls(*below: Span, **own: Any) -> list[tuple[Any, Any]]:
    """The calls of a run whose span of `refund` has others below it: id and arguments."""
    root = agent(0, 9000)
    facts = {"call_id": "c1", "arguments": {"order": 7}, **own}
    outer = tool("refund", 1100, 1900, parent=root, **facts)
    for each in below:
        each.parent_id = each.parent_id or outer.span_id
    history = [USER, ASKED, genai_message("tool", response_part("ok", "c1"))]
    first = chat(0, 1000, given=[USER], answered=[ASKED], parent=root)
    last = chat(2000, 3000, given=history, answered=[ANSWER], parent=root)
    found = build([root, first, outer, *below, last])
    assert not found.gaps
    return [(call["id"], call["arguments"]) for call in found.tool_calls]


def inner(**facts: Any) -> Span:
    return tool("refund", 1200, 1800, **facts)


OTHERS = {
    "another id": inner(call_id="c8", arguments={"order": 7}),
    "other arguments": inner(call_id="c1", arguments={"order": 99}),
    "another id and other arguments": inner(call_id="c8", arguments={"order": 99}),
    "other arguments without an id": inner(arguments={"order": 99}),
    "one argument more": inner(call_id="c1", arguments={"order": 7, "force": True}),
}
SAME = {
    "without id and arguments": inner(),
    "the same id": inner(call_id="c1"),
    "equal arguments": inner(arguments={"order": 7.0}),
    "all the same": inner(call_id="c1", arguments={"order": 7, "note": None}),
    "the arguments in a form of the recorder": inner(arguments={"kwargs": {"order": 7}}),
    "as text of Python": inner(arguments="{'order': 7}"),
    "as blank text": inner(arguments=" "),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_span_below_of_another_call_is_a_call(name: str) -> None:
    facts = OTHERS[name].attributes
    found = calls(OTHERS[name])
    assert len(found) == 2
    assert found[1][0] == facts.get("gen_ai.tool.call.id")


@pytest.mark.parametrize("name", SAME)
def test_a_span_below_of_the_same_call_is_no_other_call(name: str) -> None:
    assert calls(SAME[name]) == [("c1", {"order": 7})]


def test_what_only_the_span_below_records_is_kept() -> None:
    root = agent(0, 9000)
    outer = tool("refund", 1100, 1900, parent=root)
    [call] = build([root, outer, tool("refund", 1200, 1800, parent=outer, arguments={"order": 99})]).tool_calls
    assert call["arguments"] == {"order": 99}


def test_a_client_and_a_server_below_are_one_call_in_any_order_of_clocks() -> None:
    client = inner(call_id="c1")
    server = span("tools/call", 1000, 1500, parent=client, attributes={**inner().attributes}, scope="server")
    assert calls(client, server) == [("c1", {"order": 7})]


def test_a_tool_that_ran_twice_below_is_two_calls_unless_it_failed_before() -> None:
    assert len(calls(inner(), inner())) == 2
    assert len(calls(inner(failed=True), inner())) == 1


def test_the_gate_is_red_for_the_argument_of_a_span_below(tmp_path: Path) -> None:
    document = otlp("look", '{"order": 7}')
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    nested = otlp("look", '{"order": 99}')["resourceSpans"][0]["scopeSpans"][0]["spans"][2]
    limit = {"properties": {"order": {"maximum": 50}}}
    check = {"type": "tool_arguments", "tool": "look", "schema": limit, "required": True}
    write(tmp_path, {"evals/s.yaml": suite(check), "traces/refund.json": document})
    assert evalgate(tmp_path, ["evals/s.yaml"]).code == 0
    spans.append({**nested, "spanId": "0" * 15 + "9", "parentSpanId": spans[2]["spanId"]})
    write(tmp_path, {"traces/refund.json": document})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == 1
    assert "99" in ran.text("comment.md")


def copied(**facts: Any) -> Any:
    """The run with a span of `lookup_order` that a file holds twice, once with other facts, which ended first."""
    root = agent(0, 9000)
    given = {"call_id": "c1", "arguments": {"order": 7}}
    kept = tool("lookup_order", 1100, 1900, parent=root, **given)
    copy = tool(facts.pop("name", "lookup_order"), 1100, 1800, parent=root, **{**given, **facts})
    copy.span_id = kept.span_id
    answered = chat(2000, 3000, given=[USER], answered=[ANSWER], parent=root)
    (run,) = runs_from_file(SpanFile(spans=[root, copy, kept, answered]))
    return build_run(run)


@pytest.mark.parametrize("facts", [{"name": "delete_user"}, {"arguments": {"order": 99}}])
def test_copies_of_a_span_that_tell_other_acts_make_calls_incomplete(facts: dict[str, Any]) -> None:
    assert "calls" in copied(**facts).gaps


def test_a_copy_that_ended_earlier_is_no_other_act() -> None:
    found = copied()
    assert ("calls" in found.gaps, [call["name"] for call in found.tool_calls]) == (False, ["lookup_order"])
