"""`validate` warns of a check that holds on every trace, and of no check that can fail."""

from __future__ import annotations

import pytest
import yaml
from in_process_command import evalgate

IDLE = [
    {"type": "allowed_tools", "tools": ["a", "*"]},
    {"type": "tool_calls", "max_tool_calls": 99_999},
    {"type": "tool_calls", "tool": "x", "max": 99_999},
    {"type": "max_tool_errors", "max": 10_000},
    {"type": "min_length", "min": 0},
    {"type": "max_length", "max": 10**9},
    {"type": "cost_limit", "max_usd": 1e9},
    {"type": "latency_limit", "max_seconds": 1e9},
    {"type": "tool_latency_limit", "tool": "a", "max_seconds": 1e9},
    {"type": "token_limit", "max_total": 10**12, "max_input": 10**12},
    {"type": "turn_limit", "max_turns": 99_999},
    {"type": "tool_arguments", "tool": "a", "schema": {}},
    {"type": "output_contains", "pattern": "x*"},
    {"contains": ""},
    {"regex": ".*"},
    {"regex": "refund|"},
    {"path": "length(tool_calls)", "gte": 0},
    {"path": "length(tool_calls)", "ne": -1},
    {"path": "metadata.tool_call_count", "gt": -1},
    {"path": "tool_calls", "length": {"gte": 0}},
    {"path": "metadata", "matches_schema": {}},
    {"any_of": [{"contains": "a"}, {"regex": ".*"}]},
    {"not": {"not": {"regex": ".*"}}},
    {"when": {"contains": "a"}, "then": [{"type": "allowed_tools", "tools": ["*"]}]},
]
ABLE = [
    {"type": "allowed_tools", "tools": ["a*"]},
    {"type": "allowed_tools", "tools": []},
    {"type": "tool_calls", "tool": "x", "min": 1, "max": 99_999},
    {"type": "tool_calls", "max_tool_calls": 99_999, "forbidden_tools": ["x"]},
    {"type": "token_limit", "max_total": 10**12, "max_input": 5},
    {"type": "token_limit", "max_total": 10_000_000},
    {"type": "max_length", "max": 1_000_000},
    {"type": "latency_limit", "max_seconds": 86_400},
    {"type": "similarity", "metric": "bleu", "reference": "x", "min_score": 0},
    {"type": "trajectory_score", "metric": "f1", "reference": ["a"], "min_score": 0},
    {"type": "recorded_score", "name": "r", "min": 0},
    {"type": "finish_reason", "in": ["*"]},
    {"type": "tool_arguments", "tool": "a"},
    {"type": "output_contains", "pattern": "x*", "literal": True},
    {"regex": "^[^<]*$"},
    {"regex": r"^\S+$"},
    {"regex": "(?i)^(?!.*sorry).*$"},
    {"regex": r"^.{0,2000}$"},
    {"not": {"regex": ".*"}},
    {"not": {"contains": "secret"}},
    {"path": "length(tool_calls)", "gte": 1},
    {"path": "metadata.balance", "gte": 0},
    {"path": "tool_calls", "length": {"gte": 0, "lte": 4}},
    {"path": "tool_calls", "length": 0},
    {"path": "exchanges[0].tool_calls", "length": 2},
    {"path": "tool_calls[?name == 'x'] | [0]", "exists": True},
    {"path": "metadata.steps[].x", "exists": True},
]
SAME_FOR_ALL = [
    "tool_calls",
    "tool_calls[?name == 'x']",
    "tool_calls[].name",
    "turns[-3:]",
    "length(turns) > `0`",
    "usage",
]


def _validate(tmp_path, *checks):
    suite = {"suite": "s", "scenarios": [{"id": "a", "assertions": [{"type": "not_empty", "required": True}, *checks]}]}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    return evalgate("validate", str(tmp_path / "s.yaml"))


def test_every_check_that_can_not_fail_is_a_warning_with_its_line(tmp_path):
    done = _validate(tmp_path, *IDLE)
    assert done.exit_code == 0, done.err
    assert done.err.count("this check holds on every trace that has what it reads") == len(IDLE), done.err


@pytest.mark.parametrize("check", IDLE, ids=str)
def test_no_warning_is_of_another_check(check, tmp_path):
    assert "this check holds on every trace" in _validate(tmp_path, check).err


def test_a_check_that_can_fail_is_no_warning(tmp_path):
    assert _validate(tmp_path, *ABLE).err == ""


@pytest.mark.parametrize("expression", SAME_FOR_ALL)
@pytest.mark.parametrize("expected", [True, False])
def test_asking_whether_a_list_exists_that_always_does_is_an_error(expression, expected, tmp_path):
    done = _validate(tmp_path, {"path": expression, "exists": expected})
    assert done.exit_code == 2
    assert "`exists` says the same of every trace" in done.err
