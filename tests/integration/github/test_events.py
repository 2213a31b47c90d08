"""What a run does on each event."""

from __future__ import annotations

import pytest
from fakes.agent import next_run, on_main, ours, record, trace

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


def test_a_merge_queue_is_held_against_what_its_group_is_built_on_and_comments_nowhere(hub, act, workspace, baseline):
    record(workspace, trace(tool="guess"))
    told = act("merge_group")
    assert (told.exit_code, told.outputs["regressions"]) == (1, "1")
    assert (told.outputs["baseline-status"], told.outputs["baseline-sha"]) == ("exact", baseline)
    assert told.summary
    assert ours(hub) == []
    assert uploaded(hub) == 1


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_a_run_on_main_without_a_push_is_held_against_mains_own_baseline(hub, act, baseline, event):
    told = act(event)
    assert (told.exit_code, told.outputs["baseline-status"], told.outputs["baseline-sha"]) == (
        0,
        "exact",
        baseline,
    )
    assert ours(hub) == []
    assert uploaded(hub) == 1


def test_a_push_to_another_branch_is_held_against_where_it_left_main(hub, act, baseline):
    told = act("push", ref=FEATURE)
    assert (told.exit_code, told.outputs["baseline-status"]) == (0, "latest")
    assert ours(hub) == []
    assert uploaded(hub) == 1


def test_a_tag_makes_no_baseline(hub, act, baseline):
    hub.state["refs"]["refs/tags/main"] = baseline
    assert act("push", ref="refs/tags/main").outputs["baseline-path"] == ""
    assert uploaded(hub) == 1


def test_a_pull_requests_own_token_and_a_strangers_files_are_never_brought_together(hub, act):
    told = act("pull_request_target", pr=8)
    assert (told.exit_code, told.outputs["verdict"]) == (2, "invalid")
    [said] = told.annotations
    assert "reads no files on the event `pull_request_target`" in said["message"]
    assert hub.requests == []


def test_the_input_that_would_allow_it_is_refused_with_the_reason(act):
    told = act("pull_request", variables={"INPUT_ALLOW-UNTRUSTED-HEAD": "true"})
    assert told.exit_code == 2
    assert "there is no input `allow-untrusted-head`" in told.annotations[0]["message"]


def test_a_run_that_was_overtaken_leaves_the_newer_comment_as_it_is(hub, runner, workspace):
    before = runner.environment()
    hub.state["pulls"]["7"]["head"]["sha"] = hub.commit("d" * 40)
    runner.act()
    record(workspace, trace(tool="guess"))
    told = runner.act_in(before)
    assert told.exit_code == 1
    [comment] = ours(hub)
    assert "EvalGate passed" in comment
    [said] = [said["message"] for said in told.annotations if said["type"] == "notice"]
    assert said == "no comment: the pull request has moved on to ddddddd, whose own run reports"
    assert told.outputs["comment-id"] == ""


def test_where_the_head_can_not_be_asked_for_the_comment_is_posted(hub, act):
    hub.fail({"kind": "status", "status": 404}, path=r"/pulls/7$", times=-1)
    assert act().exit_code == 0
    assert len(ours(hub)) == 1
