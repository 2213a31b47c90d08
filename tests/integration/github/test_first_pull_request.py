"""The pull request that brings EvalGate: no baseline yet, and a base commit without any of its files."""

from __future__ import annotations

import pytest
from fakes.agent import own_comments, trace, write_trace

APPROVAL = "approvals:\n  - {suite: support, scenario: refund, reason: r, who: w, until: 2999-01-01}\n"


def test_it_is_judged_by_its_suites_alone(hub, act):
    step = act(fail_on="hard_fail,broken,below_threshold,regression")
    assert (step.exit_code, step.annotations, step.outputs["baseline-status"]) == (0, [], "none")
    [comment] = own_comments(hub)
    assert "passed" in comment.splitlines()[2]
    assert "none yet, so changes can't be shown; the next push to ` main ` creates it" in comment


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
    assert "proposed: ` support / refund `" in comment
    assert "OWN" not in comment
