"""A job as two processes: one with the token, one that reads what a pull request wrote."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.agent import SUITE, on_main, ours, record, trace
from fakes.runner import ENTRYPOINT

pytestmark = pytest.mark.shared

TRACED = re.compile(r"(\d+) +(\w+)\((.*)")
CALLS = "execve,connect,sendto,exit_group"
OUR_OWN_MACHINE = re.compile(r"AF_UNIX|AF_UNSPEC")


def test_a_job_is_judged_compared_and_told_by_two_processes(hub, act):
    on_main(hub)
    told = act(is_apart=True)
    assert told.exit_code == 0
    assert told.outputs["verdict"] == "pass"
    assert len(ours(hub)) == 1


@pytest.mark.parametrize("limits", ["memory=40MB", "memory=30MB"])
def test_a_judge_over_its_limits_is_exit_code_2_that_says_so(workspace, act, limits):
    told = act(is_apart=True, limits=limits)
    assert (told.exit_code, told.outputs["verdict"]) == (2, "invalid")
    assert "memory it may use" in told.annotations[0]["message"]
    results = json.loads((workspace / ".evalgate/results.json").read_text())
    assert results["reasons"][0]["code"] == "over_limit"


def test_the_log_says_on_demand_as_whom_the_judge_runs(act):
    assert any(line.startswith("the judge runs as ") for line in act(is_apart=True, debug="true").log)


def forked_by(parent):
    """Numbers of the processes that another one has forked."""
    found = []
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            about = (each / "stat").read_text() if each.name.isdigit() else ""
            found += [int(each.name)] if about and about.rpartition(")")[2].split()[1] == str(parent) else []
    return found


def judges_of(folder):
    """Whether somebody judges in a folder: he notes what he reads."""
    return [each for each in folder.glob("evalgate-*/judge-*/reading") if each.stat().st_size]


def is_alive(pid):
    """Whether there is such a process, and it has not ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes can't be listed here")
def test_a_job_that_is_cancelled_takes_its_judge_along(runner, workspace, tmp_path):
    slow = "".join(f"      - {{regex: '(a|a)+(a|{one})+(a|a)+$'}}\n" for one in "abcdefgh")
    (workspace / "evals/support.yaml").write_text(SUITE + slow)
    record(workspace, trace(content="a" * 40 + "b"))
    environ = {**runner.environment(token=""), "RUNNER_TEMP": str(tmp_path), "INPUT_BASELINE": "none"}
    process = subprocess.Popen([sys.executable, ENTRYPOINT], env=environ, stdout=subprocess.PIPE)
    until = time.monotonic() + 20
    while not judges_of(tmp_path) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert judges_of(tmp_path), "no judge has begun"
    [judge] = forked_by(process.pid)

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)

    assert process.returncode == 128 + signal.SIGTERM
    assert not is_alive(judge)
    assert list(tmp_path.glob("evalgate-*")) == []


@pytest.fixture
def traced(hub, runner, tmp_path):
    """The calls that start programs and open connections, of all processes of a run."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    on_main(hub)
    environ = runner.environment()
    log = tmp_path / "strace"
    command = [strace, "-f", "-e", f"trace={CALLS}", "-o", log, sys.executable, "-I", ENTRYPOINT]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)
    if "PTRACE" in done.stderr or not log.read_text().strip():
        pytest.skip("processes can't be traced here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert environ["INPUT_GITHUB-TOKEN"] not in log.read_text()
    return [found.groups() for found in map(TRACED.match, log.read_text().splitlines()) if found]


def test_a_run_is_our_two_processes_and_speaks_with_the_api_only(hub, traced):
    programs = [(pid, rest) for pid, call, rest in traced if call == "execve" and "= 0" in rest]
    first, again = (rest for _, rest in programs)
    assert "entrypoint.py" in first
    assert "/* 0 vars */" in again
    [parent] = {pid for pid, _ in programs}
    [judging] = {pid for pid, call, _ in traced if call == "exit_group"} - {parent}
    spoken = [
        (pid, rest) for pid, call, rest in traced if call == "connect" and not OUR_OWN_MACHINE.search(rest)
    ]
    assert {re.search(r"sin6?_port=htons\((\d+)\)", rest)[1] for _, rest in spoken} <= hub_ports(hub)
    assert judging not in {pid for pid, _ in spoken}


def hub_ports(hub):
    addresses = (hub.info.github_api_url, hub.info.blob, hub.info.results_url)
    return {re.search(r":(\d+)(/|$)", address)[1] for address in addresses}
