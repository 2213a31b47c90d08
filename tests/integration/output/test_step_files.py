"""A runner's files that can't be written: outputs end a step with 70, the summary is only a warning."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from documents import ROOT

from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep

SUITE = """\
suite: small
traces: ["traces/*.json"]
scenarios:
  - id: a
    assertions: [{type: turn_limit, max_turns: 3}]
"""
TRACE = {"trace_id": "t1", "scenario_id": "a", "messages": [{"role": "user", "content": "hi"}]}
PLACES = {
    "a folder": (".", "Is a directory"),
    "a missing folder": ("gone/file", "No such file or directory"),
    "a full disk": ("/dev/full", "No space left on device"),
    "below a file": ("suite.yaml/file", "Not a directory"),
}
EVERY_PLACE = pytest.mark.parametrize(("path", "reason"), PLACES.values(), ids=PLACES)


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces/a.json").write_text(json.dumps(TRACE))
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "event.json").write_text('{"repository": {"default_branch": "main"}}')
    return tmp_path


def environment(workspace, **variables):
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_REPOSITORY_ID": "1",
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_EVENT_PATH": str(workspace / "event.json"),
        "GITHUB_SHA": "c" * 40,
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_RUN_ID": "1",
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "RUNNER_TEMP": str(workspace),
        "INPUT_CONFIG": "suite.yaml",
        "INPUT_BASELINE": "none",
        "INPUT_UPLOAD-BASELINE": "false",
        "INPUT_MODE": "evaluate",
        "PATH": "",
        **variables,
    }


def act(workspace, outputs, summary="", **variables):
    console = io.StringIO()
    environ = environment(workspace, **variables)
    code = run(environ, WorkflowStep(console, str(outputs), str(summary)), is_sandboxed=False)
    return code, console.getvalue()


def test_a_job_of_this_kind_passes(workspace):
    code, log = act(workspace, workspace / "outputs", workspace / "summary")
    assert code == 0, log
    assert "verdict=pass" in (workspace / "outputs").read_text()
    assert "EvalGate" in (workspace / "summary").read_text()


@EVERY_PLACE
def test_outputs_that_can_not_be_written_are_exit_70_with_one_line(workspace, path, reason):
    code, log = act(workspace, workspace / path)
    assert code == 70
    lines = [line for line in log.splitlines() if "outputs" in line]
    assert lines == [f"::error title=EvalGate::the step's outputs (GITHUB_OUTPUT) can't be written: {reason}"]
    assert "bug" not in log
    assert (workspace / ".evalgate/results.json").exists()


@EVERY_PLACE
def test_a_summary_that_can_not_be_written_is_a_warning(workspace, path, reason):
    code, log = act(workspace, workspace / "outputs", workspace / path)
    assert code == 0, log
    lines = [line for line in log.splitlines() if "summary" in line]
    assert lines == [f"::warning title=EvalGate::the job summary can't be written: {reason}"]
    assert "verdict=pass" in (workspace / "outputs").read_text()


@EVERY_PLACE
def test_wrong_input_without_outputs_is_exit_70_too(workspace, path, reason):
    code, log = act(workspace, workspace / path, INPUT_MODE="unheard")
    assert code == 70
    assert log.count(reason) == 1
    assert "INPUT" in log or "mode" in log


@pytest.mark.parametrize(
    ("outputs", "expected"), [("outputs", 0), ("gone/outputs", 70)], ids=["outputs", "outputs that can't be written"]
)
@pytest.mark.parametrize("stdout", ["closed", "full"])
def test_a_log_that_can_not_be_written_changes_nothing(workspace, outputs, expected, stdout):
    environ = environment(workspace, GITHUB_OUTPUT=str(workspace / outputs), PYTHONPATH=str(ROOT))
    redirect = {"closed": ">&-", "full": "> /dev/full"}[stdout]
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" "$@" {redirect}', sys.executable, str(ROOT / "entrypoint.py")],
        env=environ,
        cwd=workspace,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (expected, "")
