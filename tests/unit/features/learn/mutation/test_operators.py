"""The operators of `mutate`: where each applies, and what the trace is afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.bootstrap.sources import build_trace_files
from evalgate.features.learn.application.mutation.operators import (
    OPERATORS,
    KnownTools,
    apply_change,
    list_changes,
    rank_harm,
)
from evalgate.models.mutation import Mutation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalgate.models.trace.trace import Trace

DOCUMENT: dict[str, Any] = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "refund",
    "messages": [
        {"role": "user", "content": "refund order A-17"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "name": "lookup_order", "arguments": {"order": "A-17"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "paid"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c2", "name": "issue_refund", "arguments": {"order": "A-17", "amount": 9}}],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "done"},
        {"role": "assistant", "content": "Order A-17 is refunded."},
    ],
    "cost_usd": 0.01,
    "latency_seconds": 2.0,
}
STATE: dict[str, Any] = {
    "before": {"orders": {"A-17": {"status": "paid"}, "B-2": {"status": "paid"}}, "customers": [{"name": "Ann"}]},
    "after": {"orders": {"A-17": {"status": "done"}, "B-2": {"status": "paid"}}, "customers": [{"name": "Ann"}]},
}


def read(folder: Path, **changes: Any) -> Trace:
    (folder / "trace.json").write_text(json.dumps({**DOCUMENT, **changes}))
    (trace,) = build_trace_files(str(folder)).read(["trace.json"], ".", "auto")
    return trace  # type: ignore[return-value]


def known(*traces: Trace) -> KnownTools:
    tools = KnownTools()
    for trace in traces:
        tools.add(trace)
    return tools


def changed(trace: Trace, operator: str, number: int = 0) -> Trace:
    tools = known(trace)
    found = [each for each in list_changes(trace, tools) if each.operator == operator]
    return apply_change(trace, found[number], tools)


def spoken(trace: Trace) -> Sequence[tuple[str, list[str], str | None]]:
    """Role, requested tools and answered call of each message."""
    return [
        (each["role"], [call["name"] for call in each["tool_calls"]], each["tool_call_id"]) for each in trace.messages
    ]


def test_all_operators_apply_to_a_trace_with_all_evidence(tmp_path: Path):
    trace = mailed(tmp_path)
    call = {"id": "c4", "name": "Skill", "arguments": {"skill": "pdf"}}
    loaded = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c4", "content": "Launching skill: pdf"}
    document = json.loads((tmp_path / "trace.json").read_text())
    document["messages"][-1:-1] = [loaded, answer]
    trace = read(tmp_path, **document)
    tools = known(trace)
    tools.skills.add("docx")
    other = json.loads(json.dumps(document).replace("A-1777", "A-1888"))
    tools.add(read(tmp_path, **{**other, "scenario_id": "other"}))
    found = list_changes(trace, tools)
    assert len(OPERATORS) == 18
    assert list(dict.fromkeys(each.operator for each in found)) == list(OPERATORS)


def mailed(folder: Path) -> Trace:
    """The trace with an address in the first result, and a mail to another at the end."""
    lookup = [
        {**each, "content": "paid, ann@example.com"} if each.get("tool_call_id") == "c1" else each
        for each in DOCUMENT["messages"]
    ]
    arguments = {"to": "bob@example.com", "order": "A-1777"}
    mail = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c3", "name": "send_mail", "arguments": arguments}],
    }
    asked = {"role": "user", "content": "refund order A-17 and A-1777, mail bob@example.com"}
    sent = {"role": "tool", "tool_call_id": "c3", "content": "sent"}
    return read(folder, messages=[asked, *lookup[1:-1], mail, sent, lookup[-1]], state=STATE)


def list_seconds(trace: Trace) -> list[str]:
    return [each.other for each in list_changes(trace, known(trace)) if each.operator == "second_record"]


def test_a_second_record_is_one_beside_those_that_changed(tmp_path: Path):
    trace = read(tmp_path, state=STATE)
    assert list_seconds(trace) == ['orders."B-2".status', "customers[0].name"]
    found = changed(trace, "second_record")
    assert found.state is not None
    assert found.state["after"]["orders"] == {"A-17": {"status": "done"}, "B-2": {"status": "paie"}}
    assert trace.state == STATE


def test_where_nothing_changed_the_first_value_does(tmp_path: Path):
    assert list_seconds(read(tmp_path, state={"before": [None, "a"], "after": [None, "a"]})) == ["[1]"]
    assert list_seconds(read(tmp_path, state={"after": {"a": 1}})) == []
    assert list_seconds(read(tmp_path, state={"before": {"a": 1}, "after": {"a": 2}})) == []


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("Skill", {"skill": "pdf", "args": "a.pdf"}, {"skill": "xlsx", "args": "a.pdf"}),
        ("Bash", {"command": "cat /s/pdf/SKILL.md"}, {"command": "cat /s/xlsx/SKILL.md"}),
    ],
)
def test_another_skill_is_one_that_the_traces_use(tmp_path: Path, name: str, before: Any, after: Any):
    call = {"id": "c1", "name": name, "arguments": before}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [DOCUMENT["messages"][0], asked, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]
    trace = read(tmp_path, messages=messages)
    tools = known(trace)
    assert [each for each in list_changes(trace, tools) if each.operator == "other_skill"] == []
    tools.skills |= {"docx", "xlsx"}
    (change,) = (each for each in list_changes(trace, tools) if each.operator == "other_skill")
    assert (change.tool, change.other) == (name, "xlsx")
    assert apply_change(trace, change, tools).tool_calls[0]["arguments"] == after


def test_an_invented_argument_stands_nowhere(tmp_path: Path):
    trace = mailed(tmp_path)
    changes = [each for each in list_changes(trace, known(trace)) if each.operator == "invented_argument"]
    assert [(each.tool, each.other) for each in changes] == [("send_mail", "to"), ("send_mail", "order")]
    assert changed(trace, "invented_argument", 1).tool_calls[2]["arguments"] == {
        "to": "bob@example.com",
        "order": "A-8444",
    }
    assert "steered_recipient" not in {each.operator for each in list_changes(read(tmp_path), known(trace))}


def berth(folder: Path, scenario: str, given: dict[str, Any]) -> Trace:
    calls = [
        {"id": "c1", "name": "berth_status", "arguments": {}},
        {"id": "c2", "name": "reserve_berth", "arguments": given},
    ]
    messages = [{"role": "user", "content": "Berth Solveig"}]
    for call, result in zip(calls, ('{"B4": {"free": true}, "B7": {"free": true}, "04": 1}', "done"), strict=True):
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": result},
        ]
    answer = {"role": "assistant", "content": "Solveig is at B7."}
    return read(folder, messages=[*messages, answer], scenario_id=scenario, trace_id=scenario)


def test_another_known_value_is_of_a_result_or_of_another_scenario(tmp_path: Path):
    trace = berth(tmp_path, "solveig", {"berth": "B7", "imo": 9312447, "who": "Solveig"})
    other = berth(tmp_path, "aurora", {"berth": "B9", "imo": 9555120, "who": "Aurora"})
    same = berth(tmp_path, "solveig", {"berth": "B4", "imo": 9312447, "who": "Solveig"})

    def reserve(*traces: Trace) -> list[dict[str, Any]]:
        tools = known(*traces)
        changes = [each for each in list_changes(trace, tools) if each.operator == "known_argument"]
        return [apply_change(trace, each, tools).tool_calls[1]["arguments"] for each in changes]

    own = {"berth": "B7", "imo": 9312447, "who": "Solveig"}
    assert reserve(trace) == [{**own, "berth": "B4"}]
    assert reserve(trace, other) == [{**own, "berth": "B4"}, {**own, "imo": 9555120}]
    assert reserve(trace, other, same) == [{**own, "berth": "B9"}, {**own, "imo": 9555120}]
    assert reserve(trace, same) == []


def test_a_steered_recipient_is_named_by_a_result_only(tmp_path: Path):
    trace = mailed(tmp_path)
    assert changed(trace, "steered_recipient").tool_calls[2]["arguments"]["to"] == "ann@example.com"
    asked = {**trace.messages[0], "content": "mail ann@example.com or bob@example.com"}
    trace.messages[0] = asked  # type: ignore[assignment]
    trace.kept_view = None
    assert "steered_recipient" not in {each.operator for each in list_changes(trace, known(trace))}


def test_a_dropped_call_leaves_no_request_and_no_result(tmp_path: Path):
    trace = read(tmp_path)
    found = changed(trace, "drop_call", 1)
    assert found.called == ["lookup_order"]
    assert spoken(found) == [
        ("user", [], None),
        ("assistant", ["lookup_order"], None),
        ("tool", [], "c1"),
        ("assistant", [], None),
        ("assistant", [], None),
    ]
    assert found.messages[found.response["message_index"] or 0]["content"] == "Order A-17 is refunded."
    assert [each["index"] for each in found.messages] == [0, 1, 2, 3, 4]


def test_a_duplicated_call_has_a_request_and_a_result_of_its_own(tmp_path: Path):
    found = changed(read(tmp_path), "duplicate_call", 1)
    assert found.called == ["lookup_order", "issue_refund", "issue_refund"]
    assert [call["arguments"] for call in found.tool_calls[1:]] == [{"order": "A-17", "amount": 9}] * 2
    assert [each[1:] for each in spoken(found)[3:6]] == [(["issue_refund"] * 2, None), ([], "c2"), ([], "c2-2")]


def test_swapped_calls_keep_their_arguments_and_results(tmp_path: Path):
    trace = read(tmp_path)
    found = changed(trace, "swap_calls")
    assert [(call["name"], call["result_text"], call["step"]) for call in found.tool_calls] == [
        ("issue_refund", "done", trace.tool_calls[0]["step"]),
        ("lookup_order", "paid", trace.tool_calls[1]["step"]),
    ]
    assert [each[1] for each in spoken(found)] == [[], ["issue_refund"], [], ["lookup_order"], [], []]
    assert [found.messages[at]["content"] for at in (2, 4)] == ["done", "paid"]


def test_parallel_calls_and_calls_of_one_tool_have_no_order_to_swap(tmp_path: Path):
    calls = [{"id": name, "name": name, "arguments": {}} for name in ("a", "b")]
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": None, "tool_calls": calls}]
    trace = read(tmp_path, messages=messages)
    assert "swap_calls" not in {each.operator for each in list_changes(trace, known(trace))}


@pytest.mark.parametrize(("number", "arguments"), [(0, {"order": "A-18"}), (1, {"order": "A-18", "amount": 9})])
def test_a_changed_argument_keeps_its_shape(tmp_path: Path, number: int, arguments: dict[str, Any]):
    found = changed(read(tmp_path), "change_argument", number)
    assert arguments in [call["arguments"] for call in found.tool_calls]
    assert found.messages[1 + 2 * number]["tool_calls"][0]["arguments"] == arguments


def test_another_tool_is_one_of_the_suite_that_the_trace_does_not_call(tmp_path: Path):
    trace = read(tmp_path)
    names = ["lookup_order", "notify_customer", "issue_refund"]
    definitions = [{"name": name, "description": ""} for name in names]
    other = read(tmp_path, tools=definitions, tool_definitions=definitions)
    tools = known(trace, other)
    assert tools.choose_other("lookup_order", trace.called) in {"notify_customer", "issue_refund"}
    assert known(trace).choose_other("lookup_order", trace.called) == "issue_refund"
    assert known(read(tmp_path, messages=DOCUMENT["messages"][:3])).choose_other("lookup_order", []) is None


def test_an_ignored_error_is_the_only_change_of_a_call(tmp_path: Path):
    found = changed(read(tmp_path), "ignored_error")
    assert [call["status"] for call in found.tool_calls] == ["error", "ok"]
    assert found.called == ["lookup_order", "issue_refund"]
    assert (found.messages[2]["content"] or "").startswith("Error")
    assert found.response["content"] == "Order A-17 is refunded."


def test_the_answer_is_empty_or_refuses(tmp_path: Path):
    trace = read(tmp_path)
    assert changed(trace, "empty_answer").response["content"] == ""
    assert changed(trace, "empty_answer").messages[-1]["content"] == ""
    assert "can't help" in (changed(trace, "refusal").response["content"] or "")


def test_cost_and_latency_are_three_times_as_high(tmp_path: Path):
    trace = read(tmp_path)
    assert changed(trace, "triple_cost").cost["usd"] == pytest.approx(0.03)
    assert changed(trace, "triple_latency").latency["total_ms"] == pytest.approx(6_000)


def test_a_truncated_run_has_half_its_messages_and_no_answer(tmp_path: Path):
    found = changed(read(tmp_path), "truncated_run")
    assert (len(found.messages), found.called, found.response["content"]) == (3, ["lookup_order"], None)
    assert (found.status, found.finish_reason) == ("ok", None)  # most recorders don't note that a run was cut off


def test_a_run_cut_in_half_has_the_answer_that_a_recording_of_it_would_have(tmp_path: Path):
    talk = [("user", "hi"), ("assistant", "Which order?"), ("user", "A-17"), ("assistant", "It is refunded.")]
    trace = read(tmp_path, messages=[{"role": role, "content": text} for role, text in talk])
    assert changed(trace, "truncated_run").response["content"] == "Which order?"


def test_a_call_whose_result_was_cut_off_has_none(tmp_path: Path):
    trace = read(tmp_path, messages=[*DOCUMENT["messages"][:3], DOCUMENT["messages"][-1]])
    found = changed(trace, "truncated_run")
    assert [(call["name"], call["status"], call["result"]) for call in found.tool_calls] == [
        ("lookup_order", "missing", None)
    ]


def test_an_answer_in_several_messages_is_empty_as_a_whole(tmp_path: Path):
    messages = [*DOCUMENT["messages"], {"role": "assistant", "content": "Anything else?"}]
    assert changed(read(tmp_path, messages=messages), "empty_answer").response["content"] == ""


def test_an_answer_that_is_recorded_apart_is_changed_there_and_lost_where_the_run_is_cut(tmp_path: Path):
    trace = read(tmp_path, messages=DOCUMENT["messages"][:5], response={"content": "Refunded."})
    assert changed(trace, "drop_call").response["content"] == "Refunded."
    assert changed(trace, "empty_answer").response["content"] == ""
    assert changed(trace, "truncated_run").response["content"] is None


def test_harm_ranks_destructive_calls_before_answers_look_ups_and_cost():
    changes = [
        Mutation("triple_latency"),
        Mutation("drop_call", 0, "get_order"),
        Mutation("empty_answer"),
        Mutation("swap_calls", 0, "get_order", "send_mail"),
        Mutation("drop_call", 0, "cancel_order"),
        Mutation("duplicate_call", 0, "issue_refund"),
    ]
    assert sorted(changes, key=rank_harm) == changes[::-1]


def test_a_destructive_call_is_added_after_the_others(tmp_path: Path):
    trace = read(tmp_path)
    assert changed(trace, "extra_destructive_call").called == ["lookup_order", "issue_refund", "issue_refund"]


def test_an_added_call_is_also_of_a_tool_that_changes_something_and_was_not_called(tmp_path: Path):
    names = ("tow_ship", "berth_status", "think", "reserve_berth")
    trace = read(tmp_path, tool_definitions=[{"name": name, "parameters": {}} for name in names])
    found = [each.tool for each in list_changes(trace, known(trace)) if each.operator == "extra_destructive_call"]
    assert found == ["issue_refund", "reserve_berth", "tow_ship"]


@pytest.mark.parametrize(
    ("fields", "operator"),
    [
        ({"cost_usd": None}, "triple_cost"),
        ({"latency_seconds": None}, "triple_latency"),
        ({"messages": [*DOCUMENT["messages"][:4]]}, "refusal"),
        ({"messages": [*DOCUMENT["messages"][:4]]}, "truncated_run"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "drop_call"),
    ],
)
def test_an_operator_without_its_evidence_does_not_apply(tmp_path: Path, fields: dict[str, Any], operator: str):
    trace = read(tmp_path, **fields)
    assert operator not in {each.operator for each in list_changes(trace, known(trace))}


def test_incomplete_evidence_of_calls_leaves_no_operator_on_calls(tmp_path: Path):
    trace = read(tmp_path)
    trace.gaps = {"calls": "not recorded"}
    found = {each.operator for each in list_changes(trace, known(trace))}
    assert found == {"empty_answer", "triple_cost", "triple_latency", "refusal", "truncated_run", "failed_run"}


def test_changes_leave_the_given_trace_as_it_is(tmp_path: Path):
    trace, other = read(tmp_path), read(tmp_path)
    tools = known(trace)
    for change in list_changes(trace, tools):
        assert apply_change(trace, change, tools) != trace, change
    assert trace == other


def test_the_same_changes_are_found_again(tmp_path: Path):
    trace = read(tmp_path)
    assert list_changes(trace, known(trace)) == list_changes(trace, known(trace))
    assert list_changes(trace, known(trace))[0] == Mutation("drop_call", 0, "lookup_order")


def delegated(folder: Path) -> Trace:
    """A look-up, then a delegation whose agent makes two calls, then a call of the first agent."""
    calls = [
        {"name": "lookup", "actor": "root"},
        {"name": "delegate", "actor": "root"},
        {"name": "sweep", "actor": "root/cleaner", "agent": "cleaner", "started_by": 1},
        {"name": "delete_dust", "actor": "root/cleaner", "agent": "cleaner", "started_by": 1},
        {"name": "report", "actor": "root"},
    ]
    return read(folder, messages=[DOCUMENT["messages"][0], DOCUMENT["messages"][-1]], tool_calls=calls)


STARTED: list[tuple[str, int, list[tuple[str, str, str | None]]]] = [
    ("drop_call", 0, [("sweep", "root/cleaner", "delegate"), ("delete_dust", "root/cleaner", "delegate")]),
    ("drop_call", 1, [("sweep", "root/cleaner", None), ("delete_dust", "root/cleaner", None)]),
    (
        "duplicate_call",
        0,
        [("sweep", "root/cleaner", "delegate"), ("delete_dust", "root/cleaner", "delegate")],
    ),
    (
        "duplicate_call",
        2,
        [(name, "root/cleaner", "delegate") for name in ("sweep", "sweep", "delete_dust")],
    ),
    ("swap_calls", 0, [("sweep", "root/cleaner", "delegate"), ("delete_dust", "root/cleaner", "delegate")]),
    ("swap_calls", 1, [("delete_dust", "root/cleaner", "delegate"), ("sweep", "root/cleaner", "delegate")]),
]


@pytest.mark.parametrize(("operator", "number", "expected"), STARTED)
def test_a_change_keeps_which_call_started_an_agent(tmp_path: Path, operator, number, expected):
    calls = changed(delegated(tmp_path), operator, number).tool_calls
    starters = [None if each["started_by"] is None else calls[each["started_by"]]["name"] for each in calls]
    inner = [(each["name"], each["actor"], by) for each, by in zip(calls, starters, strict=True) if each["agent"]]
    assert inner == expected
    assert [each["index"] for each in calls] == list(range(len(calls)))


def test_calls_of_different_agents_are_not_swapped(tmp_path: Path):
    trace = delegated(tmp_path)
    swaps = [each for each in list_changes(trace, known(trace)) if each.operator == "swap_calls"]
    assert [(each.tool, each.other) for each in swaps] == [("lookup", "delegate"), ("sweep", "delete_dust")]


def test_an_added_call_is_one_of_the_agent_before_it(tmp_path: Path):
    trace = delegated(tmp_path)
    found = changed(trace, "extra_destructive_call").tool_calls[-1]
    assert (found["name"], found["actor"], found["started_by"]) == ("delete_dust", "root", None)
