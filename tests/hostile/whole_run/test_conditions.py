"""A condition that holds in no trace is a warning; one that holds somewhere in the suite is not."""

from __future__ import annotations

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

SAYS = {"contains": "done", "required": True}
DENY = {"type": "forbidden_tools", "tools": ["delete_*"]}


def judge(folder, condition, *answers):
    check = {"when": condition, "then": [DENY], "required": True, "name": "no deletion after a refund"}
    traces = {f"traces/{n}.json": trace("done", tools=tools, trial=n) for n, tools in enumerate(answers)}
    write(folder, {"evals/s.yaml": suite(SAYS, check), **traces})
    ran = evalgate(folder, ["evals/s.yaml"])
    return ran.code, [each for each in ran.results["warnings"] if each["code"] == "unmet_condition"]


@pytest.mark.parametrize(
    "condition",
    [{"type": "tool_called", "tool": "refund_order"}, {"contains": "refunded"}, {"not": {"contains": "done"}}],
)
def test_a_condition_that_never_holds_is_named_with_its_place(tmp_path, condition):
    code, (found,) = judge(tmp_path, condition, ("lookup",), ("delete_user",))
    assert code == 0
    assert "`no deletion after a refund` held in no trace" in found["message"]
    assert found["where"] == "evals/s.yaml:1"


def test_a_condition_that_holds_in_one_trace_is_no_warning(tmp_path):
    assert judge(tmp_path, {"type": "tool_called", "tool": "refund"}, ("lookup",), ("lookup", "refund")) == (0, [])


def test_a_condition_that_can_not_be_judged_is_no_warning(tmp_path):
    _, found = judge(tmp_path, {"type": "cost_limit", "max_usd": 1}, ("lookup",))
    assert found == []


def test_a_suite_without_conditions_has_no_warning(tmp_path):
    write(tmp_path, {"evals/s.yaml": suite(SAYS), "traces/a.json": trace("done")})
    assert evalgate(tmp_path, ["evals/s.yaml"]).results["warnings"] == []


def test_a_condition_is_no_warning_beside_a_failure_of_each_trial_that_it_was_asked_in(tmp_path):
    required = {"type": "tool_called", "tool": "refund_order", "required": True}
    check = {"when": {"type": "tool_called", "tool": "refund_order"}, "then": [DENY], "required": True}
    write(tmp_path, {"evals/s.yaml": suite(required, check), "traces/a.json": trace("done", tools=("lookup",))})
    ran = evalgate(tmp_path, ["evals/s.yaml"])
    assert ran.code == 1
    assert [each["code"] for each in ran.results["warnings"]] == []
