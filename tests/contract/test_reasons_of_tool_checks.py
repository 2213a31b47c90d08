"""The reasons that docs/evaluators.md shows for a check are the reasons it gives."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import assess
from builders import make_call, make_trace
from documents import ROOT

from evalgate.reporting.text.sentences import unmark_parts

TEXT = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8").replace("\n", " ")
SCHEMA = {"properties": {"amount": {"type": "number"}}}
DECLINED = make_call("issue_refund", status="error", result="card declined")
SLOW = {**make_call("lookup_order", index=1), "duration_ms": 3_500}
F1 = {
    "type": "trajectory_score",
    "metric": "f1",
    "reference": ["lookup_order", "issue_refund"],
    "min_score": 0.8,
}
TWICE = [("t", {"delay_seconds": 60})] * 2
IN = ["stop", "tool_calls"]

ORDERS = {"orders": {"A7": {"status": "paid"}, "B2": {"status": "shipped"}}}
REFUNDED = {"orders": {"A7": {"status": "paid"}, "B2": {"status": "refunded"}}}
BOOKED = ["find", {"tool": "book", "args": {"row": 2}}]

CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "tool_sequence", "sequence": BOOKED}, {"calls": ["find", ("book", {"row": 3})]}),
    ({"type": "tool_calls", "tool": "issue_refund", "exactly": 1}, {"calls": ["issue_refund"] * 2}),
    ({"type": "forbidden_tools", "tools": ["delete_*"]}, {"calls": ["a", "b", "delete_user"]}),
    (
        {"type": "allowed_tools", "tools": ["lookup_*", "issue_refund"]},
        {"calls": ["issue_refund", "run_code"]},
    ),
    ({"type": "max_tool_calls", "max": 10}, {"calls": ["a"] * 12}),
    ({"type": "max_tool_errors", "max": 0}, {"calls": [DECLINED, "a", "b", "c"]}),
    (
        {"type": "tool_arguments", "tool": "issue_refund", "schema": SCHEMA},
        {"calls": ["a", ("issue_refund", {"amount": "5"})]},
    ),
    ({"type": "no_loops"}, {"calls": ["a", *[("lookup_order", {"id": "A1"})] * 5]}),
    ({"type": "no_loops"}, {"calls": ["search", "fetch"] * 4}),
    (F1, {"calls": ["lookup_order", "search"]}),
    ({"type": "expected_tool", "tool": "schedule_task", "min_calls": 2}, {"calls": ["schedule_task"]}),
    ({"type": "expected_tool", "expected_tool": None, "tool": "schedule_task"}, {"calls": ["schedule_task"]}),
    ({"type": "no_run_code"}, {"calls": ["a", "run_code"]}),
    ({"type": "has_timing", "tool": "t"}, {"calls": ["a", ("t", {"text": "x"})]}),
    ({"type": "staggered_timing", "tool": "t"}, {"calls": TWICE}),
    ({"type": "is_recurring", "tool": "t"}, {"calls": [("t", {"when": "tomorrow"})]}),
    ({"type": "token_limit", "max_total": 20_000}, {"input_tokens": 23_000, "output_tokens": 114}),
    ({"type": "turn_limit", "max_turns": 6}, {"turns": [("a", "b")] * 7}),
    ({"type": "tool_latency_limit", "tool": "lookup_order", "max_seconds": 2}, {"calls": ["a", SLOW]}),
    ({"type": "finish_reason", "in": IN}, {"finish_reason": "length"}),
    ({"type": "state", "path": "orders.A7.status", "eq": "refunded"}, {"state": {"after": ORDERS}}),
    ({"type": "state_unchanged", "except": ["orders.A7"]}, {"state": {"before": ORDERS, "after": REFUNDED}}),
    ({"type": "files_changed", "never": [".github/**"]}, {"state": {"files": {".github/ci.yml": {"change": "added"}}}}),
]


@pytest.mark.parametrize(("raw", "trace"), CASES, ids=lambda case: case.get("type"))
def test_reason_in_the_documents_is_the_one_of_the_check(raw: dict[str, Any], trace: dict[str, Any]) -> None:
    found = assess(raw, make_trace(**trace))
    assert found.outcome == "failed"
    assert unmark_parts(found.reason) in TEXT
