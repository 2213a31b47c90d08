"""The Action as a runner starts it, against a stand-in for GitHub."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.runner import ENTRYPOINT, FakeRunner

pytestmark = pytest.mark.shared

BOT = "github-actions[bot]"
SUITE = """\
version: 1
suite: support
traces: ["../traces/*.json"]
scenarios:
  - id: refund
    assertions:
      - {type: tool_called, tool: lookup_order, required: true}
      - {type: output_contains, value: refunded}
"""
HOSTILE = "refunded @acme/everyone <img src=x onerror=y> ::error::x ##[error]y | `a` <!-- z -->\n::set-env name=A::b"


def trace(*, tool="lookup_order", content="refunded"):
    return {
        "schema": "evalgate.trace/1",
        "scenario_id": "refund",
        "messages": [
            {"role": "user", "content": "refund me"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "name": tool, "arguments": {"id": 42}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "assistant", "content": content},
        ],
    }


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    (folder / "evals").mkdir(parents=True)
    (folder / "traces").mkdir()
    (folder / "evals/support.yaml").write_text(SUITE)
    record(folder, trace())
    return folder


def record(workspace, document):
    (workspace / "traces/refund.json").write_text(json.dumps(document))


@pytest.fixture
def runner(hub, workspace, tmp_path):
    return FakeRunner(hub, workspace, tmp_path)


@pytest.fixture
def act(runner):
    return runner.act


def on_main(hub):
    """The current run is a push on main."""
    main = hub.state["refs"]["refs/heads/main"]
    current(hub).update(event="push", head_branch="main", head_sha=main, pulls=[])


def current(hub):
    return next(run for run in hub.state["runs"] if run["id"] == hub.state["runtime"]["run_id"])


def next_run(hub, conclusion):
    """Main's run ends, and a pull request's begins."""
    before = current(hub)
    before.update(status="completed", conclusion=conclusion)
    after = {
        **before,
        "id": before["id"] + 1,
        "event": "pull_request",
        "status": "in_progress",
        "conclusion": None,
    }
    hub.state["runs"].append({**after, "head_branch": "feature/x", "pulls": [7]})
    hub.state["runtime"]["run_id"] = after["id"]


def with_baseline(hub, act, *, code=0):
    on_main(hub)
    pushed = act("push")
    assert pushed.exit_code == code
    next_run(hub, "failure" if code else "success")
    return pushed


def ours(hub):
    return [comment["body"] for comment in hub.comments_of(BOT)]


def test_the_baseline_that_main_uploads_is_found_by_the_pull_request(hub, act, workspace):
    pushed = with_baseline(hub, act)
    assert pushed.outputs["baseline-path"] == ".evalgate/baseline.zip"
    assert [artifact["name"] for artifact in hub.state["artifacts"]] == ["evalgate-baseline"]
    told = act()
    assert (told.exit_code, told.outputs["verdict"]) == (0, "pass")
    assert told.outputs["baseline-status"] == "exact"
    assert told.outputs["baseline-sha"] == hub.state["refs"]["refs/heads/main"]
    assert told.outputs["baseline-path"] == ""


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
    assert Path(environ["GITHUB_OUTPUT"]).read_text() == "verdict=cannot_judge\nexit-code=143\n"


def test_an_output_folder_that_can_not_be_written_is_wrong_input(act, workspace):
    (workspace / ".evalgate/results.json/x").mkdir(parents=True)
    told = act()
    assert (told.exit_code, told.outputs["exit-code"]) == (2, "2")
    assert "can't write" in told.annotations[0]["message"]
