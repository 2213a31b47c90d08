"""A golden of one agent judges what this agent did, and nothing where the trace does not say who acted."""

from __future__ import annotations

from typing import Any

import pytest
from command import evalgate

from hostile.suite_edits import write
from hostile.whole_run.test_who_acted import DELEGATED, UNKNOWN

TOOLS = "tool_success_rate"


def judge(folder, record: dict[str, Any], tool: str, **more: Any):
    golden = {
        "id": "refund",
        "user_messages": ["my money, please"],
        "golden_responses": ["done"],
        "required_tool_usage": [tool],
        "evaluate_completeness": False,
        **more,
    }
    document = {"version": 1, "suite": "s", "traces": ["../traces/*.json"], "goldens": [golden]}
    write(folder, {"evals/s.yaml": document, "traces/a.json": record})
    ran = evalgate(folder, ["evals/s.yaml", "--fail-on", "hard_fail,below_threshold"])
    (scenario,) = ran.results["suites"][0]["scenarios"]
    rows = {each["name"]: each for each in scenario["trials"][0]["assertions"]}
    return ran, rows[TOOLS]


@pytest.mark.parametrize(
    ("tool", "agent", "outcome"),
    [
        ("sweep", None, "passed"),
        ("sweep", "any", "passed"),
        ("sweep", "cleaner", "passed"),
        ("sweep", "clean*", "passed"),
        ("sweep", "root", "failed"),
        ("sweep", "poster", "failed"),
        ("delegate", "root", "passed"),
    ],
)
def test_the_tools_of_a_golden_are_those_of_its_agent(tmp_path, tool, agent, outcome):
    _, row = judge(tmp_path, DELEGATED, tool, **({} if agent is None else {"agent": agent}))
    assert row["outcome"] == outcome, row


def test_who_acted_must_be_recorded(tmp_path):
    ran, row = judge(tmp_path, UNKNOWN, "sweep", agent="cleaner")
    assert ran.code != 0
    assert (row["outcome"], "who made each call is not recorded" in row["reason"]) == ("not_evaluable", True)


def test_an_agent_of_a_golden_that_acted_in_no_trace_is_named(tmp_path):
    ran, _ = judge(tmp_path, DELEGATED, "sweep", agent="cleanr")
    assert [each["code"] for each in ran.results["warnings"] if "cleanr" in each["message"]] == ["unknown_agent"]
