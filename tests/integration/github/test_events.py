"""What a run does on each event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from fakes.agent import next_run, on_main, own_comments, trace, write_trace
from markdown_check import read_text

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


def days_until(expiry):
    return round((datetime.fromisoformat(expiry) - datetime.now(UTC)) / timedelta(days=1))


def test_a_merge_queue_is_compared_with_the_base_of_its_group_and_does_not_comment(hub, act, workspace, baseline):
    write_trace(workspace, trace(tool="guess"))
    step = act("merge_group")
    assert (step.exit_code, step.outputs["regressions"]) == (1, "1")
    assert (step.outputs["baseline-status"], step.outputs["baseline-sha"]) == ("exact", baseline)
    assert step.summary
    assert own_comments(hub) == []
    assert uploaded(hub) == 1


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_a_run_on_main_without_a_push_is_compared_with_mains_own_baseline_and_uploads_its_own(
    hub, act, baseline, event
):
    step = act(event)
    found = step.outputs["baseline-status"], step.outputs["baseline-sha"]
    assert (step.exit_code, *found, step.outputs["baseline-path"]) == (0, "exact", baseline, ".evalgate/baseline.zip")
    assert own_comments(hub) == []
    assert uploaded(hub) == 2


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_a_first_baseline_made_without_a_push_is_found_by_the_pull_request(hub, act, main_sha, event):
    on_main(hub, event=event)
    assert act(event).outputs["baseline-status"] == "none"
    next_run(hub, "success")
    step = act()
    assert (step.outputs["baseline-status"], step.outputs["baseline-sha"]) == ("exact", main_sha)


def test_a_workflow_started_by_hand_on_another_branch_makes_no_baseline(hub, act, baseline):
    assert act("workflow_dispatch", variables={"GITHUB_REF": FEATURE}).outputs["baseline-path"] == ""
    assert uploaded(hub) == 1


def test_a_baseline_that_every_pull_request_would_refuse_is_not_uploaded(hub, act):
    step = act(upload_baseline="true")
    assert (step.exit_code, step.outputs["baseline-path"], uploaded(hub)) == (0, ".evalgate/baseline.zip", 0)
    [notice] = [each["message"] for each in step.annotations if each["type"] == "notice"]
    assert notice == (
        "the baseline was not uploaded: pull requests use only those of push, schedule and workflow_dispatch runs, "
        "and this is a run of `pull_request`"
    )


def test_baseline_and_report_are_kept_as_long_as_their_inputs_say(hub, act):
    on_main(hub)
    act("push", retention_days="30", report_retention_days="7")
    next_run(hub, "success")
    act(upload_report="true", retention_days="30", report_retention_days="7")
    assert {each["name"]: days_until(each["expires_at"]) for each in hub.state["artifacts"]} == {
        "evalgate-baseline": 30,
        "evalgate-report-evalgate.yml-gate": 7,
    }


def test_nothing_is_kept_longer_than_the_repository_allows(hub, act):
    on_main(hub)
    step = act("push", retention_days="90", variables={"GITHUB_RETENTION_DAYS": "5"})
    [artifact] = hub.state["artifacts"]
    assert days_until(artifact["expires_at"]) == 5
    assert f"kept until {artifact['expires_at'][:10]}." in "\n".join(step.log)


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


def test_a_workflow_that_a_ruleset_requires_from_elsewhere_compares_with_the_named_workflow(hub, act):
    on_main(hub)
    act("push")
    next_run(hub, "success")
    required = {"GITHUB_WORKFLOW_REF": "acme/ci/.github/workflows/gate.yml@refs/heads/main"}
    step = act(variables=required)
    assert step.outputs["baseline-status"] == "refused"
    assert "another workflow than .github/workflows/gate.yml; baseline-workflow names the one" in read_text(
        step.summary
    )
    for demand in ({"fail_on": "hard_fail,no_baseline"}, {"policy_from": "base"}):
        step = act(variables=required, **demand)
        [said] = [each["message"] for each in step.annotations if each["type"] == "error"]
        assert (step.exit_code, "`baseline-workflow` names the one that counts" in said) == (3, True)
        assert "run the gate on the base branch" not in said
    step = act(variables=required, baseline_workflow=".github/workflows/evalgate.yml")
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "exact")


def test_rules_of_an_organization_beside_the_code_are_a_gate_with_a_baseline_of_its_own(hub, act, workspace):
    """As docs/enterprise.md shows: a second checkout below the workspace."""
    (workspace / ".acme-rules").mkdir()
    rules = (
        'suite: acme\nscenarios: [{id: "*", assertions: [{type: tool_called, tool: lookup_order, required: true}]}]\n'
    )
    (workspace / ".acme-rules/rules.yaml").write_text(rules)
    inputs = {"config": ".acme-rules/rules.yaml", "traces": "traces/**/*.json*", "comment_key": "rules"}
    inputs["baseline_artifact"] = "evalgate-baseline-rules"
    on_main(hub)
    assert act("push", **inputs).exit_code == 0
    next_run(hub, "success")
    write_trace(workspace, trace(tool="guess"))
    step = act(**inputs)
    assert (step.exit_code, step.outputs["baseline-status"]) == (1, "exact")
