"""Calls of Codex of which items and events differ, or whose items come twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hostile.whole_run.case import FAILED, PASS, SUITE, Case, check, suite

if TYPE_CHECKING:
    from pathlib import Path

Entry = tuple[str, dict[str, Any]]
ANSWER = "Your refund is issued."
ASKED = {"order": "A-7"}
NO_DELETE = suite(check("forbidden_tools", tools=["delete_*", "*__delete_*"]), check("output_contains", value="refund"))
OF_ORDER = suite(check("tool_sequence", sequence=[{"tool": "mcp__crm__issue_refund", "args": ASKED}]))


def lines(*each: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in each)


def stream(*items: dict[str, Any]) -> str:
    """What `codex exec --json` prints: events of items that call the server's tool, and the answer."""
    answer = {"id": "i9", "type": "agent_message", "text": ANSWER}
    events = [{"type": "item.completed", "item": each} if "item" not in each else each for each in (*items, answer)]
    started = ({"type": "thread.started", "thread_id": "s"}, {"type": "turn.started"})
    return lines(*started, *events, {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 5}})


def item(tool: str = "issue_refund", known: str = "i1", status: str = "completed") -> dict[str, Any]:
    asked = {"server": "crm", "tool": tool, "arguments": ASKED}
    return {"id": known, "type": "mcp_tool_call", "status": status, "result": {"content": []}, **asked}


def rollout(name: str, *events: Entry, **fields: Any) -> str:
    """A session in which the model calls a tool; events record what ran."""
    call = {"type": "function_call", "name": name, "call_id": "c", "arguments": json.dumps(ASKED), **fields}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
    entries = [
        ("session_meta", {"id": "s", "cli_version": "0.171.0"}),
        ("response_item", call),
        *events,
        ("response_item", {"type": "function_call_output", "call_id": "c", "output": "done"}),
        ("response_item", answer),
    ]
    return lines(*({"type": kind, "payload": payload} for kind, payload in entries))


def ran(tool: str = "issue_refund", **arguments: str) -> Entry:
    """The event that a tool of the server ended."""
    invocation = {"server": "crm", "tool": tool, "arguments": arguments or ASKED}
    result = {"Ok": {"content": [{"type": "text", "text": "done"}]}}
    return "event_msg", {"type": "mcp_tool_call_end", "call_id": "c", "invocation": invocation, "result": result}


WRONG = {
    "an item twice, with another tool": stream(item(), item("delete_user")),
    "an item that began as another tool": stream({"type": "item.started", "item": item("delete_user")}, item()),
    "a declined item": stream(item(), item("delete_user", "i2", "declined")),
    "another tool ran": rollout("mcp__crm__issue_refund", ran("delete_user")),
    "a tool in a namespace": rollout("delete_user", namespace="mcp__crm"),
}
RIGHT = {
    "an item twice": stream(item(), item()),
    "an error beside items": stream(item(), {"id": "i3", "type": "error", "message": "delete_user is not known"}),
    "a tool that ran": rollout("mcp__crm__issue_refund", ran()),
    "a tool in a namespace": rollout("issue_refund", namespace="mcp__crm"),
    "a tool in a namespace that ran": rollout("issue_refund", ran(), namespace="mcp__crm__"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_call_of_another_tool_is_judged(tmp_path: Path, name: str) -> None:
    case = Case(name, {SUITE: NO_DELETE, "traces/refund.jsonl": WRONG[name]}, FAILED, ["delete_user"])

    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_is_judged_once(tmp_path: Path, name: str) -> None:
    once = check("max_tool_calls", max=1)
    rules = {
        **NO_DELETE,
        "scenarios": [{"id": "refund", "assertions": [*NO_DELETE["scenarios"][0]["assertions"], once]}],
    }
    case = Case(name, {SUITE: rules, "traces/refund.jsonl": RIGHT[name]}, PASS)

    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize(("order", "code"), [("A-7", PASS), ("B-9", FAILED)])
def test_the_arguments_with_which_a_tool_ran_are_judged(tmp_path: Path, order: str, code: int) -> None:
    recording = rollout("mcp__crm__issue_refund", ran(order=order))
    case = Case(order, {SUITE: OF_ORDER, "traces/refund.jsonl": recording}, code)

    assert case.find_faults(case.run(tmp_path)) == []
