"""A job that is cancelled: the runner sends SIGINT, after 7.5 s SIGTERM, and 2.5 s later there is no more."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.agent import own_comments, trace, write_trace
from fakes.runner import ENTRYPOINT

from evalgate.application.action.step_outputs import OUTPUTS

BEFORE_THE_VERDICT = "actions/list-artifacts-for-repo"
AFTER_THE_VERDICT = ("issues/list-comments", "issues/create-comment")


@pytest.fixture
def cancelled(hub, runner, workspace):
    """Runs a failing gate, and ends it while the request goes on."""
    write_trace(workspace, trace(tool="guess"))

    def run(request, *numbers):
        hub.fail({"kind": "hang", "seconds": 5}, times=-1, op=request)
        environ = runner.environment()
        process = subprocess.Popen(
            [sys.executable, ENTRYPOINT], env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + 10
        while not hub.waiting and time.monotonic() < deadline:
            time.sleep(0.01)
        for number in numbers:
            process.send_signal(number)
        try:
            printed, _ = process.communicate(timeout=30)
        finally:
            process.kill()
        lines = Path(environ["GITHUB_OUTPUT"]).read_text().splitlines()
        return process.returncode, dict(line.split("=", 1) for line in lines), printed.decode()

    return run


@pytest.mark.parametrize(
    "numbers", [(signal.SIGTERM,), (signal.SIGINT,), (signal.SIGINT, signal.SIGTERM, signal.SIGINT)]
)
def test_before_the_verdict_it_is_cannot_judge_and_every_output_is_set(cancelled, numbers):
    code, outputs, printed = cancelled(BEFORE_THE_VERDICT, *numbers)
    assert code in {128 + number for number in numbers}
    assert outputs.keys() == set(OUTPUTS)
    assert (outputs["verdict"], outputs["exit-code"]) == ("cannot_judge", str(code))
    assert "Traceback" not in printed


@pytest.mark.parametrize("request_underway", AFTER_THE_VERDICT)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_after_the_verdict_it_is_kept(cancelled, workspace, hub, request_underway, number):
    code, outputs, printed = cancelled(request_underway, number)
    assert code == 1
    assert outputs.keys() == set(OUTPUTS)
    assert (outputs["verdict"], outputs["exit-code"]) == ("fail", "1")
    assert (workspace / outputs["results-path"]).exists()
    assert "Traceback" not in printed
    assert own_comments(hub) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_while_the_gate_is_being_loaded_there_is_no_verdict(tmp_path, number):
    package = tmp_path / "evalgate"
    package.mkdir()
    (package / "__init__.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    command = f"import runpy; runpy.run_path({str(ENTRYPOINT)!r}, run_name='__main__')"
    output = tmp_path / "output"
    ended = subprocess.run(
        [sys.executable, "-c", command],
        env={"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(output)},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    code = 128 + number
    assert (ended.returncode, ended.stderr) == (code, b"")
    assert output.read_text() == f"verdict=cannot_judge\nexit-code={code}\n"
