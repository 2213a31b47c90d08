"""The Action as a runner starts it, against a fake GitHub."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.agent import BOT, SUITE, next_run, on_main, own_comments, trace, write_trace
from fakes.runner import ENTRYPOINT
from markdown_check import read_text

from evalgate.application.action.step_outputs import OUTPUTS

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
    step = act()
    assert (step.exit_code, step.outputs["verdict"]) == (0, "pass")
    assert step.outputs["baseline-status"] == "exact"
    assert step.outputs["baseline-sha"] == hub.state["refs"]["refs/heads/main"]
    assert step.outputs["baseline-path"] == ""


def test_a_baseline_of_other_suites_has_drifted_and_is_compared_all_the_same(hub, act, workspace):
    with_baseline(hub, act)
    suite = workspace / "evals/support.yaml"
    suite.write_text(suite.read_text().replace("value: refunded", "value: re"))
    step = act()
    status = step.outputs["baseline-status"], step.outputs["baseline-drift"]
    assert (step.exit_code, *status) == (0, "drifted", "suites")
    assert step.outputs["baseline-sha"] == hub.state["refs"]["refs/heads/main"]
    assert int(step.outputs["baseline-age-seconds"]) < 600
    assert " \u00b7 evaluated with different suites" in own_comments(hub)[0]
    written = json.loads((workspace / ".evalgate/results.json").read_bytes())
    drift = {"found": "exact", "suites": True, "files": ["evals/support.yaml"], "evaluators": []}
    assert written["baseline"]["drift"] == drift
    assert written["suites"][0]["scenarios"][0]["change"]["kind"] == "unchanged"


@pytest.mark.parametrize("kind", ["act", "act_as_process"])
def test_the_comment_shows_the_lines_of_a_changed_system_prompt(hub, runner, workspace, kind):
    recorded = trace()
    recorded["messages"].insert(0, {"role": "system", "content": "You help.\nRefund at most 100 USD."})
    write_trace(workspace, recorded)
    with_baseline(hub, runner.act)
    recorded["messages"][0]["content"] = "You help.\nRefund at most 500 USD."
    write_trace(workspace, recorded)
    step = getattr(runner, kind)()
    assert step.outputs["baseline-status"] == "exact"
    [comment] = own_comments(hub)
    assert "<details><summary>System prompt: \u22121 +1 lines</summary>" in comment
    assert "- Refund at most 100 USD.\n+ Refund at most 500 USD.\n" in comment


@pytest.mark.parametrize(
    ("event", "inputs"), [("pull_request", {}), ("push", {}), ("pull_request", {"comment": "allways"})]
)
def test_every_output_is_set_however_a_run_ends(act, event, inputs):
    assert sorted(act(event, **inputs).outputs) == sorted(OUTPUTS)


def test_a_red_main_still_yields_a_baseline(hub, act, workspace):
    write_trace(workspace, trace(tool="guess"))
    with_baseline(hub, act, code=1)
    write_trace(workspace, trace())
    step = act()
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "exact")
    assert step.outputs["improvements"] == "1"


def test_a_hard_fail_exits_1_with_every_output_and_an_annotation(hub, act, workspace):
    with_baseline(hub, act)
    write_trace(workspace, trace(tool="guess"))
    step = act()
    assert step.exit_code == 1
    declared = {
        "verdict": "fail",
        "exit-code": "1",
        "hard-fails": "1",
        "scenarios-failed": "1",
        "regressions": "1",
    }
    assert declared.items() <= step.outputs.items()
    assert step.outputs["comment-url"].startswith("https://")
    assert [annotation["type"] for annotation in step.annotations][:1] == ["error"]
    assert step.summary
    written = json.loads((workspace / step.outputs["results-path"]).read_bytes())
    assert (written["verdict"], written["exit_code"]) == ("fail", 1)


def test_the_second_run_updates_the_comment_after_105_others(hub, act, workspace):
    hub.comment("me too", "alice", count=105)
    act()
    write_trace(workspace, trace(tool="guess"))
    step = act()
    [comment] = own_comments(hub)
    assert comment.startswith("<!-- evalgate:sticky v1 key=evalgate.yml/gate -->\n")
    assert step.outputs["comment-id"] == str(hub.comments_of(BOT)[0]["id"])


def test_a_fork_whose_branch_is_called_main_gets_a_verdict_and_no_comment(hub, act, workspace):
    planted = hub.plant(run={"head_repository_id": 2002, "event": "pull_request"})
    step = act(pr=8, token="ghs_readonly")
    assert (step.exit_code, step.outputs["verdict"], step.outputs["baseline-status"]) == (0, "pass", "refused")
    assert step.summary
    assert hub.state["comments"] == []
    assert [annotation["type"] for annotation in step.annotations] == ["notice"]
    written = json.loads((workspace / ".evalgate/results.json").read_bytes())
    assert f"artifact {planted['id']}" in json.dumps(written["warnings"])
    assert "fork" in json.dumps(written["warnings"])


def test_no_baseline_at_all_is_a_clean_state(hub, act):
    step = act()
    assert (step.exit_code, step.outputs["baseline-status"], step.annotations) == (0, "none", [])


def test_after_a_damaged_baseline_the_one_before_is_used(hub, act):
    with_baseline(hub, act)
    hub.plant(files={"results.json": "{"})
    step = act()
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "exact")


def test_with_github_down_the_verdict_is_still_given(hub, act):
    hub.fail({"kind": "status", "status": 503, "headers": {"Retry-After": "60"}}, times=-1, listener="api")
    step = act()
    assert (step.exit_code, step.outputs["verdict"]) == (0, "pass")
    assert step.outputs["baseline-status"] == "unreachable"


@pytest.mark.parametrize("fail_on", ["regression", "hard_fail,broken,below_threshold"])
def test_with_github_down_a_policy_that_needs_the_baseline_can_not_judge(hub, act, fail_on):
    hub.fail({"kind": "status", "status": 503, "headers": {"Retry-After": "60"}}, times=-1, listener="api")
    step = act(fail_on=fail_on)
    assert (step.exit_code, step.outputs["verdict"]) == (4, "cannot_judge")


def test_report_only_never_fails(hub, act, workspace):
    write_trace(workspace, trace(tool="guess"))
    step = act(mode="report-only")
    assert (step.exit_code, step.outputs["verdict"], step.outputs["exit-code"]) == (0, "fail", "0")


def test_an_upload_that_fails_says_what_to_do(hub, act):
    on_main(hub)
    hub.fail({"kind": "status", "status": 400}, times=-1, listener="results")
    step = act("push")
    assert step.exit_code == 0
    assert "actions/upload-artifact" in step.annotations[0]["message"]


def test_limits_given_to_the_action_hold_for_traces_and_suites(act, workspace):
    step = act("push", limits="messages=3\nrecord=1MB")
    assert (step.exit_code, step.outputs["hard-fails"]) == (1, "1")
    assert "the trace has 4 messages; at most 3 are allowed (raise limit messages)" in read_text(step.summary)
    refused = act("push", limits="suite=100")
    assert (refused.exit_code, refused.outputs["verdict"]) == (2, "invalid")


def test_an_error_in_a_suite_is_one_line_at_its_location(hub, act, workspace):
    (workspace / "evals/support.yaml").write_text(SUITE.replace("tool_called", "tool_caled"))
    step = act()
    assert (step.exit_code, step.outputs["verdict"], step.outputs["exit-code"]) == (2, "invalid", "2")
    [annotation] = step.annotations
    assert (annotation["type"], annotation["file"]) == ("error", "evals/support.yaml")


def test_an_error_in_the_inputs_is_reported_and_leaves_results(hub, act, workspace):
    step = act(comment="allways")
    assert (step.exit_code, step.outputs["verdict"]) == (2, "invalid")
    assert "did you mean `always`?" in step.annotations[0]["message"]
    assert json.loads((workspace / step.outputs["results-path"]).read_bytes())["verdict"] == "invalid"


@pytest.mark.parametrize(
    ("tool", "mode", "conclusion"),
    [("lookup_order", "auto", "success"), ("guess", "auto", "failure"), ("guess", "report-only", "neutral")],
)
def test_a_requested_check_run_says_what_the_comment_says(hub, act, workspace, tool, mode, conclusion):
    write_trace(workspace, trace(tool=tool))
    step = act(check_run="true", mode=mode)
    [check] = hub.state["check_runs"]
    assert (check["name"], check["conclusion"]) == ("EvalGate (evalgate.yml/gate)", conclusion)
    assert check["head_sha"] == hub.state["pulls"]["7"]["head"]["sha"]
    assert check["output"]["summary"] in own_comments(hub)[0]
    assert step.exit_code == (conclusion == "failure")


def test_a_check_run_shows_an_error_in_a_suite_at_its_line(hub, act, workspace):
    (workspace / "evals/support.yaml").write_text(SUITE.replace("tool_called", "tool_caled"))
    assert act(check_run="true").exit_code == 2
    [check] = hub.state["check_runs"]
    assert (check["conclusion"], check["annotations"][0]["path"]) == ("failure", "evals/support.yaml")
    assert "tool_caled" in check["output"]["summary"]


def test_without_traces_everything_that_people_read_says_so_and_advises_on_recording(hub, act, workspace):
    with_baseline(hub, act)
    (workspace / "traces/refund.json").unlink()
    step = act(check_run="true")
    assert (step.exit_code, step.outputs["verdict"]) == (3, "cannot_judge")
    found = "no traces found: nothing matches traces/*.json below the working directory"
    [check] = hub.state["check_runs"]
    assert (check["conclusion"], check["output"]["title"]) == ("failure", f"Cannot judge: {found}")
    assert [(each["path"], each["title"]) for each in check["annotations"]] == [
        ("evals/support.yaml", "EvalGate: no traces")
    ]
    [annotation] = step.annotations
    comment = own_comments(hub)[0]
    read = map(read_text, (comment, step.summary))
    for text in ("\n".join(step.log), *read, annotation["message"], check["annotations"][0]["message"]):
        assert found in text
        assert "leaves no trace" in text
    assert "cannot judge: no traces found: nothing matches ` traces/*.json ` below the working directory" in comment


def test_no_check_run_is_written_unless_requested(hub, act):
    act()
    assert not [asked for asked in hub.requests if "check-runs" in asked["path"] or "statuses" in asked["path"]]


def test_text_of_traces_mentions_no_one_and_runs_no_workflow_command(hub, act, workspace):
    write_trace(workspace, trace(tool="guess ::error::x", content=HOSTILE.replace("refunded", "no")))
    step = act(debug="true")
    assert step.exit_code == 1
    [comment] = own_comments(hub)
    assert "@acme" not in comment
    assert "\n::" not in comment


def test_as_a_process_it_does_the_same(hub, runner):
    on_main(hub)
    assert runner.act_as_process("push").result == "success"
    next_run(hub, "success")
    step = runner.act_as_process()
    assert (step.result, step.outputs["baseline-status"]) == ("success", "exact")
    assert len(own_comments(hub)) == 1


def test_a_job_that_is_cancelled_leaves_outputs(hub, runner):
    hub.fail({"kind": "hang", "seconds": 4}, times=-1, listener="api")
    environ = runner.environment()
    process = subprocess.Popen([sys.executable, ENTRYPOINT], env=environ, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 10
    while not hub.waiting and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(5) == 128 + signal.SIGTERM
    lines = Path(environ["GITHUB_OUTPUT"]).read_text().splitlines()
    assert lines[:2] == ["verdict=cannot_judge", "exit-code=143"]
    assert sorted(line.partition("=")[0] for line in lines) == sorted(OUTPUTS)


def test_an_output_folder_that_can_not_be_written_is_invalid_input(act, workspace):
    (workspace / ".evalgate/results.json/x").mkdir(parents=True)
    step = act()
    assert (step.exit_code, step.outputs["exit-code"]) == (2, "2")
    assert "can't write" in step.annotations[0]["message"]
