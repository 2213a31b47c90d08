"""A run that judges nothing says so wherever an older run said something else."""

from __future__ import annotations

import json
import re

import pytest
from fakes.agent import FORK, SUITE, current, next_run, own_comments, without_origin

from evalgate.adapters.http import RequestDeadline

STOP = "\u26d4 EvalGate could not run"
STOP_OR_UNSURE = re.compile("\u26d4 (` .+ `: )?EvalGate (could not run|cannot judge)")


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
    title = found["output"]["title"]
    assert (found["conclusion"], title.startswith("Could not run: ")) == ("failure", True)
    assert INVALID[spoil].strip("` ") in title


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
    assert (comment.count("EvalGate passed"), comment.count("` model: b `: EvalGate could not run")) == (1, 1)


def test_a_refused_comment_changes_nothing_else(hub, act, workspace, budget):
    hub.fail({"kind": "status", "status": 503}, times=-1, path="/comments")
    step = act(**break_suite(workspace), budget=budget)
    assert step.exit_code == 2
    assert STOP in step.summary


@pytest.mark.parametrize("inputs", [{"comment": "off"}, {"mode": "evaluate"}])
def test_no_comment_is_posted_where_none_is_wanted(hub, act, workspace, inputs):
    assert act(**break_suite(workspace), **inputs).exit_code == 2
    assert own_comments(hub) == []


def lose_the_traces(hub, workspace):
    (workspace / "traces/refund.json").unlink()
    return 3, "cannot_judge"


def need_an_unreachable_baseline(hub, workspace):
    """Only artifacts can't be asked for, so that the comment can still be written."""
    (workspace / "evals/support.yaml").write_text(SUITE + "policy: {fail_on: [regression]}\n")
    hub.fail({"kind": "status", "status": 503}, times=-1, path="/artifacts")
    hub.fail({"kind": "status", "status": 503}, times=-1, path="/runs")
    return 4, "cannot_judge"


@pytest.mark.parametrize("spoil", [lose_the_traces, need_an_unreachable_baseline], ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("job", ["first push", "later push", "first push of a matrix", "later push of a matrix"])
def test_a_run_that_can_not_judge_replaces_the_report_of_an_older_commit(hub, act, workspace, budget, spoil, job):
    matrix = {"model": "a"} if "matrix" in job else None
    if job.startswith("later"):
        assert act(matrix=matrix, budget=budget).exit_code == 0
        next_run(hub, "success")
    code, verdict = spoil(hub, workspace)
    step = act(matrix=matrix, check_run="true", budget=budget)
    assert (step.exit_code, step.outputs["verdict"], step.outputs["exit-code"]) == (code, verdict, str(code))
    [comment] = own_comments(hub)
    for report in (comment, step.summary):
        assert "EvalGate passed" not in report
        assert STOP_OR_UNSURE.search(report)
    assert hub.state["check_runs"][-1]["conclusion"] == "failure"


def test_github_down_can_not_replace_a_comment_but_fails_the_job_and_says_so(hub, act, workspace, budget):
    assert act(budget=budget).exit_code == 0
    next_run(hub, "success")
    hub.fail({"kind": "status", "status": 503}, times=-1)
    step = act(**break_suite(workspace), budget=budget)
    assert step.exit_code == 2
    assert STOP in step.summary
    assert any("comment" in each["message"] for each in step.annotations)


def as_fork(hub):
    head = hub.state["pulls"]["8"]["head"]
    current(hub).update(head_branch="main", head_sha=head["sha"], head_repository_id=FORK, pulls=[])


def publish(hub, act, run, conclusion, **inputs):
    next_run(hub, conclusion, event="workflow_run", head_branch="main", head_repository_id=1001)
    return act("workflow_run", mode="publish", comment_key="evalgate", after_run=run, **inputs)


def test_a_forks_run_that_can_not_judge_is_published_over_an_older_pass(hub, act, workspace):
    as_fork(hub)
    given = {"pr": 8, "token": "ghs_readonly", "comment_key": "evalgate"}
    assert act(**given, comment="always", upload_report="true").exit_code == 0
    publish(hub, act, 9001, "success")
    next_run(hub, "success")
    as_fork(hub)
    code, _ = lose_the_traces(hub, workspace)
    run = current(hub)["id"]
    assert act(**given).exit_code == code
    publish(hub, act, run, "failure")
    assert [body for body in own_comments(hub) if "EvalGate passed" in body] == []


@pytest.mark.parametrize("conclusion", ["failure", "timed_out", "cancelled", "startup_failure"])
def test_a_forks_run_that_left_no_report_replaces_an_older_pass(hub, act, conclusion):
    as_fork(hub)
    assert act(pr=8, token="ghs_readonly", comment_key="evalgate", upload_report="true").exit_code == 0
    publish(hub, act, 9001, "success", comment="always")
    assert "EvalGate passed" in own_comments(hub)[0]
    next_run(hub, "success")
    as_fork(hub)
    run = current(hub)["id"]
    step = publish(hub, act, run, conclusion)
    [comment] = own_comments(hub)
    assert f"{STOP}, or left no report" in comment
    assert f"run {run} uploaded no artifact" in comment
    assert step.annotations[0]["type"] == "warning"


def test_a_forks_report_that_is_refused_replaces_an_older_pass(hub, act):
    """A fork controls its report: one that can't be read must not keep a better one in place."""
    as_fork(hub)
    assert act(pr=8, token="ghs_readonly", comment_key="evalgate", upload_report="true").exit_code == 0
    publish(hub, act, 9001, "success", comment="always")
    next_run(hub, "success")
    as_fork(hub)
    run = current(hub)["id"]
    hub.plant(files={"results.json": "{}"}, name="evalgate-report-evalgate", run_id=run)
    publish(hub, act, run, "success")
    [comment] = own_comments(hub)
    assert STOP in comment
    assert "is refused" in comment


def test_a_forks_run_that_left_no_report_begins_no_comment(hub, act):
    as_fork(hub)
    publish(hub, act, 9001, "failure")
    assert own_comments(hub) == []
