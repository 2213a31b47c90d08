"""The pull request that brings EvalGate: no baseline yet, and a base commit without any of its files."""

from __future__ import annotations

import pytest
from fakes.agent import own_comments, trace, write_trace
from fakes.github.start import MAIN

WORKFLOW = ".github/workflows/evalgate.yml"
APPROVAL = "approvals:\n  - {suite: support, scenario: refund, reason: r, who: w, until: 2999-01-01}\n"


def test_it_is_judged_by_its_suites_alone(hub, act):
    step = act(fail_on="hard_fail,broken,below_threshold,regression")
    assert (step.exit_code, step.annotations, step.outputs["baseline-status"]) == (0, [], "none")
    [comment] = own_comments(hub)
    assert "passed" in comment.splitlines()[2]
    assert "none yet, so changes can't be shown; the next push to ` main ` creates it" in comment


@pytest.mark.parametrize("inputs", [{"baseline_artifact": "evalgate-baseline-v2"}, {"matrix": {"py": "3.13"}}])
def test_a_gate_for_which_main_has_baselines_of_other_names_only_is_yellow(hub, act, inputs):
    hub.plant()
    asked = inputs.get("baseline_artifact", "evalgate-baseline-3.13-84a3d187")
    step = act(comment="always", **inputs)
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "none")
    said = f"compared with nothing: ` main ` has the baseline ` evalgate-baseline `, this run asked for ` {asked} `"
    heading = next(line for line in step.summary.splitlines() if line.startswith("## "))
    assert heading.startswith("## \U0001f7e1 ")
    assert f"passed, but {said}; " in heading
    assert f"**Baseline** none: {said}" in step.summary
    assert "none yet" not in step.summary


def test_a_push_that_makes_the_first_baseline_of_a_name_is_green(hub, act):
    hub.plant()
    step = act("push", baseline_artifact="evalgate-baseline-v2")
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "none")
    assert step.summary.count("## \u2705 ") == 1


def test_a_gate_that_main_ran_before_and_that_has_no_baseline_is_yellow(hub, act):
    hub.write(WORKFLOW, b"steps:\n  - uses: org/EvalGate@v1\n", MAIN)
    step = act(comment="always")
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "none")
    said = "compared with nothing: ` main ` has 1 successful run of this workflow and no baseline: it was deleted, or"
    heading = next(line for line in step.summary.splitlines() if line.startswith("## "))
    assert heading.startswith(f"## \U0001f7e1 EvalGate passed, but {said} none is uploaded; ")
    assert f"**Baseline** none: {said} none is uploaded; run it again there" in step.summary
    assert "none yet" not in step.summary


def test_a_gate_that_main_ran_for_pull_requests_only_is_green(hub, act):
    hub.write(WORKFLOW, b"steps:\n  - uses: org/evalgate@v1\n", MAIN)
    hub.state["runs"][0]["event"] = "pull_request"
    assert "## \u2705 " in act().summary


@pytest.mark.parametrize("before", [b"steps:\n  - run: make test\n", None])
def test_a_gate_that_comes_into_a_workflow_that_main_ran_without_it_is_green(hub, act, before):
    if before:
        hub.write(WORKFLOW, before, MAIN)
    step = act()
    assert "## \u2705 " in step.summary
    assert "none yet, so changes can't be shown; the next push to ` main ` creates it" in step.summary


def test_what_fails_by_itself_blocks(act, workspace):
    write_trace(workspace, trace(tool="guess"))
    assert act().exit_code == 1


@pytest.mark.parametrize(
    ("inputs", "code"), [({"fail_on": "no_baseline"}, 3), ({"policy_from": "base"}, 3), ({"comment": "on-change"}, 0)]
)
def test_settings_that_need_a_baseline(hub, act, inputs, code):
    assert act(**inputs).exit_code == code
    assert len(own_comments(hub)) == (0 if "comment" in inputs else 1)


def test_its_approvals_and_its_template_count_once_merged(hub, act, workspace):
    write_trace(workspace, trace(tool="guess"))
    (workspace / "evalgate-approvals.yaml").write_text(APPROVAL)
    (workspace / "own.md.j2").write_text("{% extends 'comment.md.j2' %}{% block footer %}OWN{% endblock %}")
    step = act(template="own.md.j2")
    assert step.exit_code == 1
    [warning] = [each["message"] for each in step.annotations if each["type"] == "warning"]
    assert "template" in warning
    [comment] = own_comments(hub)
    assert "proposed: ` support / refund (at any score, also 0) `" in comment
    assert "OWN" not in comment
