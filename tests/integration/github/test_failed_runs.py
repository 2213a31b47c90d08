"""A run that judges nothing says so wherever an older run said something else."""

from __future__ import annotations

import json

import pytest
from fakes.agent import FORK, current, next_run, own_comments, without_origin

from evalgate.adapters.http import RequestDeadline

STOP = "\u26d4 EvalGate could not run"


def with_green_comment(hub, act) -> None:
    """The first push of a pull request passes and is commented."""
    assert act().exit_code == 0
    assert "\u2705 EvalGate passed" in own_comments(hub)[0]
    next_run(hub, "success")


def break_suite(workspace):
    suite = workspace / "evals/support.yaml"
    suite.write_text(suite.read_text().replace("suite: support", "suite: support\nbogus: 1"))
    return {}


def name_no_suite(workspace):
    return {"config": "evals/none.yaml"}


def misspell_an_input(workspace):
    return {"comment": "allways"}


def name_a_damaged_baseline(workspace):
    (workspace / "old.zip").write_bytes(b"no zip")
    return {"baseline": "old.zip"}


INVALID = {
    break_suite: 'unknown key "bogus"',
    name_no_suite: "evals/none.yaml",
    misspell_an_input: "` allways `",
    name_a_damaged_baseline: "old.zip",
}


@pytest.mark.parametrize("spoil", INVALID, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("is_first", [True, False], ids=["first push", "later push"])
def test_invalid_input_replaces_the_report_of_an_older_commit(hub, act, workspace, spoil, is_first):
    if not is_first:
        with_green_comment(hub, act)
    step = act(**spoil(workspace), check_run="true")
    assert (step.exit_code, step.outputs["verdict"], step.outputs["exit-code"]) == (2, "invalid", "2")
    [comment] = own_comments(hub)
    for report in (without_origin(comment), step.summary):
        assert STOP in report
        assert INVALID[spoil] in report
        assert "was not judged" in report
    assert json.loads((workspace / ".evalgate/results.json").read_bytes())["verdict"] == "invalid"


@pytest.mark.parametrize("spoil", [break_suite, misspell_an_input], ids=lambda spoil: spoil.__name__)
def test_the_check_run_fails_too(hub, act, workspace, spoil):
    act(**spoil(workspace), check_run="true")
    [found] = hub.state["check_runs"]
    assert (found["conclusion"], found["output"]["title"]) == ("failure", "Could not run: 1 error in its input")


class FailingOnce(dict):
    """An environment in which EvalGate meets an error of its own, once."""

    is_broken = True

    def get(self, name, default=None):
        if name == "INPUT_CONFIG" and self.is_broken:
            self.is_broken = False
            raise RuntimeError
        return super().get(name, default)


def test_a_bug_in_evalgate_replaces_the_report_of_an_older_commit(hub, act, runner):
    with_green_comment(hub, act)
    step = runner.act_in(FailingOnce(runner.environment()))
    assert (step.exit_code, step.outputs["verdict"], step.outputs["exit-code"]) == (70, "cannot_judge", "70")
    [comment] = own_comments(hub)
    assert f"{STOP}: it has a bug" in comment
    assert "a RuntimeError was raised" in comment
    assert STOP in step.summary


@pytest.mark.parametrize("spoil", [break_suite, misspell_an_input], ids=lambda spoil: spoil.__name__)
def test_a_fork_leaves_the_failure_for_the_workflow_that_publishes_it(hub, act, workspace, spoil):
    head = hub.state["pulls"]["8"]["head"]
    current(hub).update(head_branch="main", head_sha=head["sha"], head_repository_id=FORK, pulls=[])
    step = act(pr=8, token="ghs_readonly", comment_key="evalgate", **spoil(workspace))
    assert step.exit_code == 2
    assert STOP in step.summary
    assert own_comments(hub) == []
    next_run(hub, "failure", event="workflow_run", head_branch="main", head_repository_id=1001)
    act("workflow_run", mode="publish", comment_key="evalgate", after_run=9001)
    [comment] = own_comments(hub)
    assert STOP in comment


def test_a_leg_of_a_matrix_replaces_its_own_report_only(hub, act, workspace, pauses):
    def judge(model):
        return act(matrix={"model": model}, budget=RequestDeadline(20, sleep=pauses.append)).exit_code

    assert [judge("a"), judge("b")] == [0, 0]
    break_suite(workspace)
    assert judge("b") == 2
    [comment] = own_comments(hub)
    assert "EvalGate did not pass in 1 of 2 legs" in comment
    assert (comment.count("EvalGate passed"), comment.count(STOP)) == (1, 1)


def test_a_refused_comment_changes_nothing_else(hub, act, workspace):
    hub.fail({"kind": "status", "status": 503}, times=-1, path="/comments")
    step = act(**break_suite(workspace))
    assert step.exit_code == 2
    assert STOP in step.summary


@pytest.mark.parametrize("inputs", [{"comment": "off"}, {"mode": "evaluate"}])
def test_no_comment_is_posted_where_none_is_wanted(hub, act, workspace, inputs):
    assert act(**break_suite(workspace), **inputs).exit_code == 2
    assert own_comments(hub) == []
