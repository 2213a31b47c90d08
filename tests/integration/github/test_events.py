"""What a run does on each event."""

from __future__ import annotations

import pytest
from fakes.agent import next_run, on_main, own_comments, trace, write_trace

pytestmark = pytest.mark.shared

FEATURE = "refs/heads/feature/x"


@pytest.fixture
def main_sha(hub):
    return hub.state["refs"]["refs/heads/main"]


@pytest.fixture
def baseline(hub, act, main_sha):
    """Main's newest commit has a baseline, and another run is under way."""
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")
    return main_sha


def uploaded(hub):
    return len(hub.state["artifacts"])


def test_a_merge_queue_is_compared_with_the_base_of_its_group_and_does_not_comment(hub, act, workspace, baseline):
    write_trace(workspace, trace(tool="guess"))
    step = act("merge_group")
    assert (step.exit_code, step.outputs["regressions"]) == (1, "1")
    assert (step.outputs["baseline-status"], step.outputs["baseline-sha"]) == ("exact", baseline)
    assert step.summary
    assert own_comments(hub) == []
    assert uploaded(hub) == 1


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_a_run_on_main_without_a_push_is_compared_with_mains_own_baseline(hub, act, baseline, event):
    step = act(event)
    assert (step.exit_code, step.outputs["baseline-status"], step.outputs["baseline-sha"]) == (
        0,
        "exact",
        baseline,
    )
    assert own_comments(hub) == []
    assert uploaded(hub) == 1


def test_a_push_to_another_branch_is_compared_with_where_it_left_main(hub, act, baseline):
    step = act("push", ref=FEATURE)
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "latest")
    assert own_comments(hub) == []
    assert uploaded(hub) == 1


def test_a_tag_makes_no_baseline(hub, act, baseline):
    hub.state["refs"]["refs/tags/main"] = baseline
    assert act("push", ref="refs/tags/main").outputs["baseline-path"] == ""
    assert uploaded(hub) == 1


def test_a_write_token_and_untrusted_files_are_never_combined(hub, act):
    step = act("pull_request_target", pr=8)
    assert (step.exit_code, step.outputs["verdict"]) == (2, "invalid")
    [annotation] = step.annotations
    assert "reads no files on the event `pull_request_target`" in annotation["message"]
    assert hub.requests == []


def test_the_input_that_would_allow_it_is_refused_with_the_reason(act):
    step = act("pull_request", variables={"INPUT_ALLOW-UNTRUSTED-HEAD": "true"})
    assert step.exit_code == 2
    assert "there is no input `allow-untrusted-head`" in step.annotations[0]["message"]


def test_a_run_that_was_overtaken_leaves_the_newer_comment_as_it_is(hub, runner, workspace):
    before = runner.environment()
    hub.state["pulls"]["7"]["head"]["sha"] = hub.commit("d" * 40)
    runner.act()
    write_trace(workspace, trace(tool="guess"))
    step = runner.act_in(before)
    assert step.exit_code == 1
    [comment] = own_comments(hub)
    assert "EvalGate passed" in comment
    [notice] = [notice["message"] for notice in step.annotations if notice["type"] == "notice"]
    assert notice == "no comment: the pull request has the newer commit ddddddd, whose run will comment"
    assert step.outputs["comment-id"] == ""


def test_where_the_head_is_unknown_the_comment_is_posted(hub, act):
    hub.fail({"kind": "status", "status": 404}, path=r"/pulls/7$", times=-1)
    assert act().exit_code == 0
    assert len(own_comments(hub)) == 1
