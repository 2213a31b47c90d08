"""The Action as a runner starts it, against a stand-in for GitHub."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.agent import BOT, SUITE, next_run, on_main, ours, record, trace
from fakes.runner import ENTRYPOINT

from evalgate.application.action.step_outputs import OUTPUTS

pytestmark = pytest.mark.shared

HOSTILE = "refunded @acme/everyone <img src=x onerror=y> ::error::x ##[error]y | `a` <!-- z -->\n::set-env name=A::b"


def with_baseline(hub, act, *, code=0):
    on_main(hub)
    pushed = act("push")
    assert pushed.exit_code == code
    next_run(hub, "failure" if code else "success")
    return pushed


def test_the_baseline_that_main_uploads_is_found_by_the_pull_request(hub, act, workspace):
    pushed = with_baseline(hub, act)
    assert pushed.outputs["baseline-path"] == ".evalgate/baseline.zip"
    assert [artifact["name"] for artifact in hub.state["artifacts"]] == ["evalgate-baseline"]
    told = act()
    assert (told.exit_code, told.outputs["verdict"]) == (0, "pass")
    assert told.outputs["baseline-status"] == "exact"
    assert told.outputs["baseline-sha"] == hub.state["refs"]["refs/heads/main"]
    assert told.outputs["baseline-path"] == ""


def test_a_baseline_of_other_suites_has_drifted_and_is_compared_all_the_same(hub, act, workspace):
    with_baseline(hub, act)
    suite = workspace / "evals/support.yaml"
    suite.write_text(suite.read_text().replace("value: refunded", "value: re"))
    told = act()
    status = told.outputs["baseline-status"], told.outputs["baseline-drift"]
    assert (told.exit_code, *status) == (0, "drifted", "suites")
    assert told.outputs["baseline-sha"] == hub.state["refs"]["refs/heads/main"]
    assert int(told.outputs["baseline-age-seconds"]) < 600
    assert "of the base commit, less than a day old, judged by other suites" in ours(hub)[0]
    written = json.loads((workspace / ".evalgate/results.json").read_bytes())
    assert written["baseline"]["drift"] == {"found": "exact", "suites": True, "evaluators": []}
    assert written["suites"][0]["scenarios"][0]["change"]["kind"] == "unchanged"


@pytest.mark.parametrize(
    ("event", "inputs"), [("pull_request", {}), ("push", {}), ("pull_request", {"comment": "allways"})]
)
def test_every_output_is_set_however_a_run_ends(act, event, inputs):
    assert sorted(act(event, **inputs).outputs) == sorted(OUTPUTS)


def test_a_red_main_still_yields_a_baseline(hub, act, workspace):
    record(workspace, trace(tool="guess"))
    with_baseline(hub, act, code=1)
    record(workspace, trace())
    told = act()
    assert (told.exit_code, told.outputs["baseline-status"]) == (0, "exact")
    assert told.outputs["improvements"] == "1"


def test_a_hard_fail_exits_1_with_every_output_and_an_annotation(hub, act, workspace):
    with_baseline(hub, act)
    record(workspace, trace(tool="guess"))
    told = act()
    assert told.exit_code == 1
    declared = {
        "verdict": "fail",
        "exit-code": "1",
        "hard-fails": "1",
        "scenarios-failed": "1",
        "regressions": "1",
    }
    assert declared.items() <= told.outputs.items()
    assert told.outputs["comment-url"].startswith("https://")
    assert [said["type"] for said in told.annotations][:1] == ["error"]
    assert told.summary
    written = json.loads((workspace / told.outputs["results-path"]).read_bytes())
    assert (written["verdict"], written["exit_code"]) == ("fail", 1)


def test_the_second_run_updates_the_comment_after_105_others(hub, act, workspace):
    hub.comment("me too", "alice", count=105)
    act()
    record(workspace, trace(tool="guess"))
    told = act()
    [comment] = ours(hub)
    assert comment.startswith("<!-- evalgate:sticky v1 key=evalgate.yml/gate -->\n")
    assert told.outputs["comment-id"] == str(hub.comments_of(BOT)[0]["id"])


def test_a_fork_whose_branch_is_called_main_gets_a_verdict_and_no_comment(hub, act, workspace):
    planted = hub.plant(run={"head_repository_id": 2002, "event": "pull_request"})
    told = act(pr=8, token="ghs_readonly")
    assert (told.exit_code, told.outputs["verdict"], told.outputs["baseline-status"]) == (0, "pass", "none")
    assert told.summary
    assert hub.state["comments"] == []
    assert [said["type"] for said in told.annotations] == ["notice"]
    written = json.loads((workspace / ".evalgate/results.json").read_bytes())
    assert f"artifact {planted['id']}" in json.dumps(written["warnings"])
    assert "fork" in json.dumps(written["warnings"])


def test_a_read_only_token_is_a_warning(hub, act):
    told = act(token="ghs_readonly")
    assert told.exit_code == 0
    [said] = [said["message"] for said in told.annotations if said["type"] == "warning"]
    assert said.startswith("the comment was not posted")


def test_no_baseline_at_all_is_a_clean_state(hub, act):
    told = act()
    assert (told.exit_code, told.outputs["baseline-status"], told.annotations) == (0, "none", [])


def test_a_damaged_baseline_gives_way_to_the_one_before(hub, act):
    with_baseline(hub, act)
    hub.plant(files={"results.json": "{"})
    told = act()
    assert (told.exit_code, told.outputs["baseline-status"]) == (0, "exact")


def test_with_github_down_the_verdict_still_stands(hub, act):
    hub.fail({"kind": "status", "status": 503, "headers": {"Retry-After": "60"}}, times=-1, listener="api")
    told = act()
    assert (told.exit_code, told.outputs["verdict"]) == (0, "pass")
    assert told.outputs["baseline-status"] == "unreachable"


def test_with_github_down_a_policy_that_needs_the_baseline_can_not_judge(hub, act):
    hub.fail({"kind": "status", "status": 503, "headers": {"Retry-After": "60"}}, times=-1, listener="api")
    told = act(fail_on="regression")
    assert (told.exit_code, told.outputs["verdict"]) == (4, "cannot_judge")


def test_report_only_never_fails(hub, act, workspace):
    record(workspace, trace(tool="guess"))
    told = act(mode="report-only")
    assert (told.exit_code, told.outputs["verdict"], told.outputs["exit-code"]) == (0, "fail", "0")


def test_an_upload_that_fails_says_what_to_do(hub, act):
    on_main(hub)
    hub.fail({"kind": "status", "status": 400}, times=-1, listener="results")
    told = act("push")
    assert told.exit_code == 0
    assert "actions/upload-artifact" in told.annotations[0]["message"]


def test_limits_given_to_the_action_hold_for_traces_and_suites(act, workspace):
    told = act("push", limits="messages=3\nrecord=1MB")
    assert (told.exit_code, told.outputs["hard-fails"]) == (1, "1")
    assert "the recording has 4 messages; at most 3 are judged" in told.summary
    refused = act("push", limits="suite=100")
    assert (refused.exit_code, refused.outputs["verdict"]) == (2, "invalid")


def test_a_mistake_in_a_suite_is_one_line_at_its_place(hub, act, workspace):
    (workspace / "evals/support.yaml").write_text(SUITE.replace("tool_called", "tool_caled"))
    told = act()
    assert (told.exit_code, told.outputs["verdict"], told.outputs["exit-code"]) == (2, "invalid", "2")
    [said] = told.annotations
    assert (said["type"], said["file"]) == ("error", "evals/support.yaml")
    assert ours(hub) == []


def test_a_mistake_in_the_inputs_is_told_and_leaves_results(hub, act, workspace):
    told = act(comment="allways")
    assert (told.exit_code, told.outputs["verdict"]) == (2, "invalid")
    assert "did you mean `always`?" in told.annotations[0]["message"]
    assert json.loads((workspace / told.outputs["results-path"]).read_bytes())["verdict"] == "invalid"
    assert hub.requests == []


def test_the_working_directory_and_the_junit_path_are_kept_to(hub, act, workspace, tmp_path):
    (workspace / "deep").mkdir()
    (workspace / "evals").rename(workspace / "deep/evals")
    (workspace / "traces").rename(workspace / "deep/traces")
    told = act(working_directory="deep", junit_path="reports/junit.xml")
    assert told.exit_code == 0
    assert told.outputs["results-path"] == "deep/.evalgate/results.json"
    assert (workspace / told.outputs["results-path"]).exists()
    assert (workspace / "deep/reports/junit.xml").read_bytes().startswith(b"<?xml")


def test_places_are_told_from_the_repositorys_root(hub, act, workspace):
    (workspace / "deep").mkdir()
    (workspace / "evals").rename(workspace / "deep/evals")
    (workspace / "traces").rename(workspace / "deep/traces")
    record(workspace / "deep", trace(tool="guess"))
    told = act(working_directory="./deep/", sarif_path="x.sarif", check_run="true")
    place = "deep/evals/support.yaml"
    [said] = told.annotations
    assert (said["file"], said["line"]) == (place, "7")
    [annotation] = hub.state["check_runs"][0]["annotations"]
    assert (annotation["path"], annotation["start_line"]) == (place, 7)
    assert f'"uri": "{place}"' in (workspace / "deep/x.sarif").read_text()


def test_a_mistake_in_a_suite_deeper_down_is_told_from_the_root(act, workspace):
    (workspace / "evals").rename(workspace / "deep")
    (workspace / "deep/support.yaml").write_text("version: 2\n")
    told = act(working_directory="deep", config="support.yaml")
    assert {said["file"] for said in told.annotations} == {"deep/support.yaml"}


@pytest.mark.parametrize(
    ("tool", "mode", "conclusion"),
    [("lookup_order", "auto", "success"), ("guess", "auto", "failure"), ("guess", "report-only", "neutral")],
)
def test_a_check_run_that_is_asked_for_says_what_the_comment_says(hub, act, workspace, tool, mode, conclusion):
    record(workspace, trace(tool=tool))
    told = act(check_run="true", mode=mode)
    [check] = hub.state["check_runs"]
    assert (check["name"], check["conclusion"]) == ("EvalGate (evalgate.yml/gate)", conclusion)
    assert check["head_sha"] == hub.state["pulls"]["7"]["head"]["sha"]
    assert check["output"]["summary"] in ours(hub)[0]
    assert told.exit_code == (conclusion == "failure")


def test_a_check_run_tells_of_a_mistake_in_a_suite_at_its_line(hub, act, workspace):
    (workspace / "evals/support.yaml").write_text(SUITE.replace("tool_called", "tool_caled"))
    assert act(check_run="true").exit_code == 2
    [check] = hub.state["check_runs"]
    assert (check["conclusion"], check["annotations"][0]["path"]) == ("failure", "evals/support.yaml")
    assert "tool_caled" in check["output"]["summary"]


def test_without_the_permission_a_check_run_is_a_warning(hub, act):
    hub.state["tokens"]["ghs_write"]["permissions"]["checks"] = "read"
    told = act(check_run="true")
    assert (told.exit_code, hub.state["check_runs"]) == (0, [])
    [said] = told.annotations
    assert "It needs `checks: write`" in said["message"]


def test_on_a_forks_pull_request_no_check_run_is_tried(hub, act):
    told = act(pr=8, token="ghs_readonly", check_run="true")
    assert [said["type"] for said in told.annotations] == ["notice", "notice"]
    assert not [asked for asked in hub.requests if "check-runs" in asked["path"]]


def test_no_check_run_is_written_unasked(hub, act):
    act()
    assert not [asked for asked in hub.requests if "check-runs" in asked["path"] or "statuses" in asked["path"]]


def test_text_of_traces_reaches_nobody(hub, act, workspace):
    record(workspace, trace(tool="guess ::error::x", content=HOSTILE.replace("refunded", "no")))
    told = act(debug="true")
    assert told.exit_code == 1
    [comment] = ours(hub)
    assert "@acme" not in comment
    assert "\n::" not in comment


def test_as_a_process_it_does_the_same(hub, runner):
    on_main(hub)
    assert runner.act_as_process("--event", "push").result == "success"
    next_run(hub, "success")
    told = runner.act_as_process()
    assert (told.result, told.outputs["baseline-status"]) == ("success", "exact")
    assert len(ours(hub)) == 1


def test_a_job_that_is_cancelled_leaves_outputs(hub, runner):
    hub.fail({"kind": "hang", "seconds": 4}, times=-1, listener="api")
    environ = runner.environment()
    process = subprocess.Popen([sys.executable, ENTRYPOINT], env=environ, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 10
    while not hub.waiting and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(5) == 128 + signal.SIGTERM
    told = Path(environ["GITHUB_OUTPUT"]).read_text().splitlines()
    assert told[:2] == ["verdict=cannot_judge", "exit-code=143"]
    assert sorted(line.partition("=")[0] for line in told) == sorted(OUTPUTS)


def test_an_output_folder_that_can_not_be_written_is_wrong_input(act, workspace):
    (workspace / ".evalgate/results.json/x").mkdir(parents=True)
    told = act()
    assert (told.exit_code, told.outputs["exit-code"]) == (2, "2")
    assert "can't write" in told.annotations[0]["message"]
