"""Candidates for suggestions: short lists of checks, without secrets, prose and values that differ in each run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.bootstrap.sources import build_trace_files
from evalgate.features.learn.application.mutation.candidates import Facts, forbid_tools, list_candidates
from evalgate.models.mutation import Mutation

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import Trace


def read(folder: Path, *calls: tuple[str, dict[str, Any]], **fields: Any) -> Trace:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, (name, arguments) in enumerate(calls):
        call = {"id": f"c{number}", "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "ok"})
    document = {"schema": "evalgate.trace/1", "scenario_id": "s", "messages": messages, **fields}
    (folder / "trace.json").write_text(json.dumps(document))
    (trace,) = build_trace_files(str(folder)).read(["trace.json"], ".", "auto")
    return trace  # type: ignore[return-value]


def list_checks(change: Mutation, trace: Trace, *others: Trace) -> list[dict[str, Any]]:
    return list(list_candidates(change, trace, Facts([trace, *others])))


def test_counts_are_those_of_all_traces(tmp_path: Path):
    once, twice = read(tmp_path, ("pay", {})), read(tmp_path, ("pay", {}), ("pay", {}))
    pay = {"type": "tool_calls", "tool": "pay"}
    called = {"type": "tool_called", "tool": "pay", "required": True}
    duplicate = Mutation("duplicate_call", 0, "pay")
    assert list_checks(duplicate, once) == [called, {**pay, "exactly": 1, "required": True}]
    assert list_checks(duplicate, once, twice) == [
        called,
        {**pay, "max": 2, "required": True},
        {**pay, "min": 1, "max": 2, "required": True},
    ]
    assert list_checks(duplicate, once, read(tmp_path)) == [{**pay, "max": 1, "required": True}]


def test_tools_that_no_trace_calls_are_forbidden_together(tmp_path: Path):
    trace = read(tmp_path, ("pay", {}))
    changes = [Mutation("extra_destructive_call", 0, name) for name in ("refund", "cancel", "pay")]
    assert list(forbid_tools(changes, Facts([trace]))) == [
        {"type": "forbidden_tools", "tools": ["cancel", "refund"], "required": True}
    ]


@pytest.mark.parametrize(
    ("value", "is_expected"),
    [
        ("economy", True),
        ("ZFA04Y", True),
        (9.5, True),
        (True, True),
        (["a", 1], True),
        ("a text of more than forty characters is prose", False),
        ("two\nlines", False),
        ("2026-11-26T20:00:00Z", False),
        ("0f8fad5b-d9cb-469f-a165-70867728950e", False),
        ("1795636800", False),
        ("ghp_" + "a1B2" * 9, False),
        ({"$regex": "."}, False),
        ([["a"]], False),
        (None, False),
    ],
)
def test_only_short_values_that_may_recur_are_expected(tmp_path: Path, value: Any, is_expected: bool):
    trace = read(tmp_path, ("pay", {"to": value, "cabin": "x"}))
    found = list_checks(Mutation("change_argument", 0, "pay", "to"), trace)
    expected = [{"to": value, "cabin": "x"}, {"to": value}] if is_expected else []
    assert [each["sequence"][0]["args"] for each in found] == expected


@pytest.mark.parametrize("name", ["pay*", "pay\u202e", "ghp_" + "a1B2" * 9, "x" * 101])
def test_names_that_a_suite_can_not_have_are_not_suggested(tmp_path: Path, name: str):
    trace = read(tmp_path, (name, {"to": "x"}))
    changes = [Mutation("drop_call", 0, name), Mutation("change_argument", 0, name, "to")]
    assert [check for change in changes for check in list_checks(change, trace)] == []


def test_limits_are_twice_the_highest_amount(tmp_path: Path):
    trace = read(tmp_path, cost_usd=0.0123, latency_seconds=4)
    assert list_checks(Mutation("triple_cost"), trace)[0]["max_usd"] == 0.025
    assert list_checks(Mutation("triple_latency"), trace)[0]["max_seconds"] == 8
    assert list_checks(Mutation("triple_latency"), read(tmp_path, latency_seconds=0.045)) == []


def test_another_skill_is_noticed_by_the_one_that_was_used(tmp_path: Path):
    trace = read(tmp_path, ("Skill", {"skill": "pdf"}))
    assert list_checks(Mutation("other_skill", 0, "Skill", "docx"), trace) == [
        {"type": "skill_used", "skill": "pdf", "required": True},
        {"type": "no_skill", "skill": ["docx"], "required": True},
    ]


def test_a_second_record_is_noticed_by_a_state_that_changes_only_where_the_traces_changed_it(tmp_path: Path):
    trace = read(tmp_path, state={"before": {"a": 1, "b": {"c": 1}}, "after": {"a": 2, "b": {"c": 1}}})
    other = read(tmp_path, state={"before": {"b": {"c": 1}}, "after": {"b": {"c": 3}}})
    change = Mutation("second_record", 0, "", "b.c")
    check = {"type": "state_unchanged", "required": True}
    assert list_checks(change, trace) == [{**check, "except": ["a"]}]
    assert list_checks(change, trace, other) == [{**check, "except": ["a", "b.c"]}]
