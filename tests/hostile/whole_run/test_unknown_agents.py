"""A check of an agent that acted in no trace is not silently green: a line below the heading names the agent."""

from __future__ import annotations

from typing import Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, write
from hostile.whole_run.test_who_acted import DELEGATED, judge

DENY = {"type": "forbidden_tools", "tools": ["delete_db"], "required": True}
CALLED = {"type": "tool_called", "tool": "sweep"}
STEP = {"type": "tool_sequence", "sequence": ["delegate", {"one_of": [{"tool": "sweep", "agent": "cleanr"}]}]}
CHECKS: dict[str, tuple[dict[str, Any], str, str]] = {
    "a misspelt name": ({**DENY, "agent": "cleanr"}, "cleanr", "did you mean ` cleaner `?"),
    "a renamed agent": ({**DENY, "agent": "janitor"}, "janitor", "who did: ` cleaner `, ` clerk `, ` poster `"),
    "a glob of nobody": ({**DENY, "agent": "jan*"}, "jan*", "who did"),
    "a member of a group": (
        {"any_of": [{"type": "no_tool", "tool": "x", "agent": "janitor"}, CALLED]},
        "janitor",
        "",
    ),
    "a group": ({"all_of": [{"not": CALLED}], "agent": "janitor"}, "janitor", ""),
    "a condition": ({"when": {**CALLED, "agent": "janitor"}, "then": [CALLED]}, "janitor", ""),
    "a filter": ({"path": "tool_calls[?agent == 'cleanr']", "length": 0}, "cleanr", "` cleaner `"),
    "an actor": ({"path": "turns[?actor == 'root/cleanr']", "length": 0}, "root/cleanr", ""),
    "an operator": ({"not": {"path": "tool_calls[].agent", "contains": "cleanr"}}, "cleanr", "` cleaner `"),
    "a step": ({"not": STEP, "required": True}, "cleanr", "` cleaner `"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_an_agent_that_acted_in_no_trace_is_named_below_the_heading(tmp_path, name):
    check, agent, hint = CHECKS[name]
    ran = judge(tmp_path, DELEGATED, check, CALLED)
    assert ran.code == 0, ran.stdout
    second_line = next(line for line in ran.text("comment.md").splitlines() if "no agent" in line)
    assert f"no agent ` {agent} ` acted in any trace" in second_line
    assert hint in second_line


@pytest.mark.parametrize("agent", ["any", "root", "cleaner", "clean*", "*", "clerk"])
def test_an_agent_that_acted_is_known(tmp_path, agent):
    ran = judge(tmp_path, DELEGATED, {**DENY, "agent": agent})
    assert (ran.code, ran.results["warnings"]) == (0, [])


@pytest.mark.parametrize("expression", ["agent == 'cleaner'", "actor == 'root/cleaner'", "actor == 'root'"])
def test_an_agent_that_an_expression_looks_for_and_that_acted_is_known(tmp_path, expression):
    ran = judge(tmp_path, DELEGATED, {"path": f"tool_calls[?{expression}]", "length": {"gte": 1}, "required": True})
    assert (ran.code, ran.results["warnings"]) == (0, [])


def test_an_agent_that_acted_in_another_scenario_of_the_suite_is_known(tmp_path):
    other = {**DELEGATED, "scenario_id": "other", "tool_calls": DELEGATED["tool_calls"][:1]}
    document = suite({**DENY, "agent": "cleaner"})
    document["scenarios"].append({**document["scenarios"][0], "id": "other"})
    write(tmp_path, {"evals/s.yaml": document, "traces/a.json": DELEGATED, "traces/b.json": other})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert (ran.code, ran.results["warnings"]) == (0, [])
