"""What GitHub refuses to the token of a run: one notice with GitHub's reason, and the report is kept elsewhere."""

from __future__ import annotations

import json

import pytest
from fakes.agent import current, next_run, on_main, own_comments, trace, write_trace
from fakes.hub import site_of
from markdown_check import read_text

from evalgate.adapters.github.artifacts import Artifacts
from evalgate.adapters.http import RequestDeadline
from evalgate.errors import Unreachable

DEPENDABOT = {"GITHUB_ACTOR": "dependabot[bot]", "GITHUB_TRIGGERING_ACTOR": "dependabot[bot]"}
NO_ACCESS = 'GitHub refuses it (403): "Resource not accessible by integration"'
STAYS_PENDING = "a required check of this name stays pending: require the job instead"
READ_ONLY = "the token is read-only on pull requests from forks"
LEFT = "the report is in the job summary and .evalgate/comment.md"
REPORT = "evalgate-report-evalgate.yml-gate"


def messages(step):
    return [(each["type"], each["message"]) for each in step.annotations]


def writes(hub, path):
    return [each for each in hub.requests if each["method"] in {"POST", "PATCH"} and path in each["path"]]


def uploaded(hub):
    return [each["name"] for each in hub.state["artifacts"] if each["run_id"] == current(hub)["id"]]


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_dependabots_token_that_may_write_posts_comment_and_check_run(hub, act, mode):
    step = act(variables=DEPENDABOT, comment=mode, check_run="true")
    assert (step.exit_code, messages(step)) == (0, [])
    assert len(own_comments(hub)) == 1
    assert [found["conclusion"] for found in hub.state["check_runs"]] == ["success"]
    assert uploaded(hub) == []


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_dependabots_token_that_may_not_is_tried_once_and_the_report_is_left(hub, act, workspace, mode):
    step = act(token="ghs_readonly", variables=DEPENDABOT, comment=mode, check_run="true")
    assert messages(step) == [
        ("notice", f"no comment: {NO_ACCESS} (add `pull-requests: write` to `permissions:` in the workflow); {LEFT}"),
        (
            "notice",
            f"no check run: {NO_ACCESS} (add `checks: write` to `permissions:` in the workflow); {STAYS_PENDING}",
        ),
    ]
    assert step.exit_code == 0
    assert [len(writes(hub, path)) for path in ("/comments", "/check-runs")] == [1, 1]
    assert "EvalGate passed" in step.summary
    assert "EvalGate passed" in (workspace / step.outputs["report-path"]).read_text()
    assert uploaded(hub) == [REPORT]


PUBLISHING = "a workflow with `mode: publish` can post it (examples/workflows/fork-publish.yml)"


@pytest.mark.parametrize(("mode", "attempts", "reason"), [("auto", 0, READ_ONLY), ("always", 1, READ_ONLY)])
def test_a_forks_token_is_tried_only_if_asked_to(hub, act, mode, attempts, reason):
    step = act(pr=8, token="ghs_readonly", comment=mode, check_run="true")
    refused = f"{NO_ACCESS}: " if attempts else ""
    verdict = "" if attempts else "EvalGate passed: the only scenario passes; nothing to compare with yet; "
    assert messages(step) == [
        ("notice", f"{verdict}no comment: {refused}{reason}; {LEFT}; {PUBLISHING}"),
        ("notice", f"no check run: {refused}{reason}; {STAYS_PENDING}"),
    ]
    assert "EvalGate passed" in step.summary
    assert [len(writes(hub, path)) for path in ("/comments", "/check-runs")] == [attempts, attempts]
    assert uploaded(hub) == [REPORT]


def test_a_forks_token_that_may_write_is_used_if_asked_to(hub, act):
    step = act(pr=8, comment="always", check_run="true")
    assert messages(step) == []
    assert [comment["issue_number"] for comment in hub.state["comments"]] == [8]
    assert len(hub.state["check_runs"]) == 1


def test_a_locked_conversation_is_named(hub, act):
    hub.state["pulls"]["7"]["locked"] = True
    step = act()
    reason = 'GitHub refuses it (403): "Unable to create comment because issue is locked."'
    assert (step.exit_code, messages(step)) == (0, [("notice", f"no comment: {reason}; {LEFT}")])


@pytest.mark.parametrize("fail_on", ["hard_fail", "hard_fail,regression"])
def test_a_missing_permission_to_read_the_baseline_is_named_where_it_matters(hub, act, workspace, fail_on):
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")
    step = act(token="ghs_noactions", fail_on=fail_on)
    reason = f"{NO_ACCESS} (add `actions: read` to `permissions:` in the workflow)"
    document = json.loads((workspace / ".evalgate/results.json").read_bytes())
    assert step.outputs["baseline-status"] == "unreachable"
    assert [each["message"] for each in document["warnings"]] == [f"the baseline could not be looked up: {reason}"]
    assert (
        "could not be fetched, so neither changes nor what is still not as asked can be shown; the warning above gives the reason"
        in step.summary
    )
    assert "add actions: read to permissions:" in read_text(step.summary)
    lack = "without it it is unknown what the policy fails on (`fail_on: [regression]`)"
    expected = f"the baseline could not be fetched: {reason}; {lack}"
    assert [each["message"] for each in document["reasons"]] == ([expected] if "regression" in fail_on else [])
    assert step.exit_code == (4 if "regression" in fail_on else 0)


def test_rules_of_base_that_the_token_may_not_read_are_reported_with_the_reason(hub, act):
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")
    step = act(token="ghs_noactions", policy_from="base")
    assert step.exit_code == 4
    reason = f"{NO_ACCESS} (add `actions: read` to `permissions:` in the workflow)"
    assert f"- the rules of the base branch are not available: {reason}" in step.log


def test_a_baseline_that_can_not_be_fetched_now_may_be_fetched_later(hub, act):
    hub.fail({"kind": "status", "status": 503}, times=-1, op="actions/list-artifacts-for-repo")
    step = act(fail_on="regression", budget=RequestDeadline(pace=0.1))
    assert step.exit_code == 4
    assert "fetched: GitHub returned status 503; run the job again" in "\n".join(step.log)


def test_a_token_that_github_does_not_know_is_a_warning_without_a_permission(hub, act):
    step = act(token="ghs_unknown", baseline="none")
    [(level, message)] = [each for each in messages(step) if "comment" in each[1]]
    remedy = "(is what `github-token` names empty or expired?)"
    refused = f'the comment was not posted: GitHub does not accept the token (401): "Bad credentials" {remedy}'
    assert (level, message) == ("warning", refused)


def test_a_baseline_that_a_bad_token_can_not_fetch_is_not_told_to_try_again(act):
    step = act(token="ghs_unknown", fail_on="broken")
    assert step.exit_code == 4
    log = "\n".join(step.log)
    assert "fetched: GitHub does not accept the token (401)" in log
    assert "empty or expired?" in log
    assert "run the job again" not in log


def test_the_reason_of_a_rejected_upload_is_githubs(hub, budget):
    hub.fail({"kind": "status", "status": 400, "body": {"code": "x", "msg": "name is taken"}}, listener="results")
    with pytest.raises(Unreachable, match='artifact service returned status 400: "name is taken"'):
        Artifacts(site_of(hub), budget).upload("a", __file__)


def test_a_comparison_that_is_turned_off_is_named_in_the_heading_and_may_be_required(hub, act):
    hub.plant()
    step = act(baseline="none")
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "off")
    assert "passes; compared with nothing: baseline: none was set " in read_text(step.summary)
    assert act(baseline="none", fail_on="hard_fail,no_baseline").exit_code == 3


def test_under_act_the_gate_judges_without_a_baseline_and_says_why(hub, act, workspace):
    hub.plant()
    write_trace(workspace, trace(tool="guess"))
    unset = {"GITHUB_REPOSITORY_ID": "", "GITHUB_WORKFLOW_REF": "", "ACTIONS_RESULTS_URL": ""}
    step = act(fail_on="hard_fail,broken", variables=unset)
    assert (step.exit_code, step.outputs["baseline-status"]) == (1, "none")
    assert "there is no baseline: GITHUB_REPOSITORY_ID is not set, as under" in read_text(step.summary)
    assert not [each for each in hub.requests if "/artifacts" in each["path"]]


def test_under_act_without_an_event_the_gate_judges_too(act, workspace, tmp_path):
    event = tmp_path / "empty.json"
    event.write_text("{}")
    unset = {"GITHUB_REPOSITORY_ID": "", "GITHUB_EVENT_PATH": str(event), "INPUT_GITHUB-TOKEN": ""}
    step = act(variables=unset)
    assert (step.exit_code, step.outputs["verdict"], step.outputs["baseline-status"]) == (0, "pass", "none")
    assert (workspace / step.outputs["results-path"]).exists()
