"""Names of tools: `*` matches any characters everywhere, all other characters are literal."""

from __future__ import annotations

import pytest
from assess_assertion import assess, outcome
from builders import make_call, make_trace

from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_class


def slow(name, seconds):
    call = make_call(name)
    call["duration_ms"] = seconds * 1000
    return call


CALLS = [
    make_call("schedule_task", {"action": "add", "when": "0 9 * * *", "delay_seconds": 5}, result="6", exit_code=0),
    slow("schedule_list", 3),
    make_call("find"),
]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "no_tool", "tool": "sched*"}, "failed"),
        ({"type": "no_tool", "tool": "sched?*"}, "passed"),
        ({"type": "no_tool", "tool": "schedule_tas[k]"}, "passed"),
        ({"type": "no_tool", "tool": "*", "action": "add"}, "failed"),
        ({"type": "no_tool", "tool": "*", "action": "remove"}, "passed"),
        ({"type": "no_run_code", "tool": "f*"}, "failed"),
        ({"type": "tool_called", "tool": "*_task"}, "passed"),
        ({"type": "tool_called", "tool": "delete_*"}, "failed"),
        ({"not": {"type": "tool_called", "tool": "*_task"}}, "failed"),
        ({"type": "expected_tool", "expected_tool": "schedule_*", "min_calls": 2}, "passed"),
        ({"type": "expected_tool", "expected_tool": "schedule_*", "min_calls": 3}, "failed"),
        ({"type": "expected_tool", "expected_tool": None, "tool": "sched*"}, "failed"),
        ({"type": "tool_calls", "tool": "schedule_*", "exactly": 2}, "passed"),
        ({"type": "tool_calls", "tool": "schedule_*", "max": 1}, "failed"),
        ({"type": "tool_sequence", "sequence": ["sched*", "sched*", "find"], "mode": "exact"}, "passed"),
        ({"type": "tool_sequence", "sequence": ["sched*", "find"], "mode": "exact"}, "failed"),
        ({"type": "tool_arguments", "tool": "*_task", "schema": {"required": ["when"]}}, "passed"),
        ({"type": "tool_arguments", "tool": "*", "schema": {"required": ["when"]}}, "failed"),
        ({"type": "tool_latency_limit", "tool": "schedule_l*", "max_seconds": 2}, "failed"),
        ({"type": "tool_latency_limit", "tool": "schedule_l*", "max_seconds": 4}, "passed"),
        ({"type": "has_timing", "tool": "*_task"}, "passed"),
        ({"type": "has_timing", "tool": "sched*"}, "failed"),
        ({"type": "is_recurring", "tool": "sched*"}, "passed"),
        ({"type": "staggered_timing", "tool": "*_task"}, "passed"),
        ({"type": "output_contains", "value": "6", "source": {"tool": "*_task"}}, "passed"),
        ({"type": "output_contains", "value": "6", "source": {"tool": "*", "index": 0}}, "passed"),
        ({"type": "output_contains", "value": "6", "source": {"tool": "*"}}, "failed"),
        ({"type": "exit_code", "source": {"tool": "*_task"}}, "passed"),
        ({"type": "trajectory_score", "metric": "exact", "reference": ["*_task", "*", "find"]}, "passed"),
        ({"type": "trajectory_score", "metric": "exact", "reference": ["*_task", "*", "*_task"]}, "failed"),
        ({"type": "trajectory_score", "metric": "in_order", "reference": ["sched*", "find"]}, "passed"),
        ({"type": "trajectory_score", "metric": "in_order", "reference": ["find", "sched*"]}, "failed"),
        ({"type": "trajectory_score", "metric": "any_order", "reference": ["find", "sched*", "sched*"]}, "passed"),
        ({"type": "trajectory_score", "metric": "any_order", "reference": ["find", "find*"]}, "failed"),
        ({"type": "trajectory_score", "metric": "recall", "reference": ["*", "schedule_task", "s*"]}, "passed"),
        ({"type": "trajectory_score", "metric": "precision", "reference": ["*", "s*"], "min_score": 0.7}, "failed"),
        ({"type": "trajectory_score", "metric": "lcs", "reference": ["s*", "x", "f*"], "min_score": 0.66}, "passed"),
        ({"type": "trajectory_score", "metric": "lcs", "reference": ["f*", "x", "s*"], "min_score": 0.5}, "failed"),
    ],
)  # fmt: skip
def test_star__matches_any_characters(raw, expected):
    found = assess(raw, make_trace(calls=CALLS))
    assert found.outcome == expected, found.reason


def test_name_with_a_star__matches_itself():
    trace = make_trace(calls=["a*b"])
    for kind in ("tool_called", "expected_tool"):
        assert outcome({"type": kind, "tool": "a*b"}, trace) == "passed"
    assert outcome({"type": "no_tool", "tool": "a*b"}, trace) == "failed"


def test_negated_glob__counts_the_calls_of_all_matching_tools():
    found = assess({"not": {"type": "tool_called", "tool": "sched*"}}, make_trace(calls=CALLS))
    assert found.reason == "`sched*` must not be called, but was 2 times (first: call 1)"


def test_recorded_schemas__are_those_of_each_matching_tool():
    trace = make_trace(calls=[("get_a", {"q": 1}), ("get_b", {})])
    trace.tool_definitions = [{"name": "get_a", "parameters": {"required": ["q"]}}]
    found = assess({"type": "tool_arguments", "tool": "get_*"}, trace)
    assert (found.outcome, found.reason) == ("not_evaluable", "the trace has no schema of `get_b`")
    trace.tool_definitions.append({"name": "get_b", "parameters": {"required": ["q"]}})
    assert outcome({"type": "tool_arguments", "tool": "get_*"}, trace) == "failed"
    trace.tool_definitions[1]["parameters"] = {}
    assert outcome({"type": "tool_arguments", "tool": "get_*"}, trace) == "passed"


def test_versions__are_raised_where_a_star_was_literal():
    versions = {kind: evaluator_class(kind).version for kind in BUILT_IN_TYPES}
    assert versions["has_timing"] == versions["output_json"] == versions["trajectory_score"] == 2
    assert versions["max_tool_calls"] == 1


def test_versions__are_raised_where_names_that_are_written_alike_count():
    versions = {kind: evaluator_class(kind).version for kind in BUILT_IN_TYPES}
    assert versions["forbidden_tools"] == versions["allowed_tools"] == 2
    assert versions["no_run_code"] == versions["tool_called"] == versions["tool_sequence"] == 3
    assert versions["tool_calls"] == 4
    assert versions["no_tool"] == 4
    assert versions["expected_tool"] == 5
