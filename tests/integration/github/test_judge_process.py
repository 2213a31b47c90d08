"""A job as two processes: one with the token, one that reads what a pull request wrote."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.agent import SUITE, on_main, own_comments, trace, write_trace
from fakes.runner import ENTRYPOINT
from programs import require

TRACED = re.compile(r"(\d+) +(\w+)\((.*)")
TOKEN, PLANTED = "ghs_planted4in7the9environment", "value-of-a-variable-9f2c7d51"
CALLS = "execve,connect,sendto,exit_group"
OUR_OWN_MACHINE = re.compile(r"AF_UNIX|AF_UNSPEC")


def test_a_job_is_judged_compared_and_reported_by_two_processes(hub, act):
    on_main(hub)
    step = act(is_sandboxed=True)
    assert step.exit_code == 0
    assert step.outputs["verdict"] == "pass"
    assert len(own_comments(hub)) == 1


@pytest.mark.parametrize("limits", ["memory=30MB", "memory=20MB"])
def test_a_judge_over_its_limits_is_exit_code_2_that_says_so(workspace, act, limits):
    step = act(is_sandboxed=True, limits=limits)
    assert (step.exit_code, step.outputs["verdict"]) == (2, "invalid")
    assert "its memory limit" in step.annotations[0]["message"]  # a compiled library may crash on it
    results = json.loads((workspace / ".evalgate/results.json").read_text())
    assert results["reasons"][0]["code"] == "over_limit"


def test_the_log_says_on_demand_as_whom_the_judge_runs(act):
    assert any(line.startswith("the judge runs as ") for line in act(is_sandboxed=True, debug="true").log)


def forked_by(parent):
    """Numbers of the processes that another one has forked."""
    found = []
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            about = (each / "stat").read_text() if each.name.isdigit() else ""
            found += [int(each.name)] if about and about.rpartition(")")[2].split()[1] == str(parent) else []
    return found


def judges_in(folder):
    """The notes of judges that have begun to read traces."""
    notes = folder.glob("evalgate-*/judge-*/reading")
    return [each for each in notes if b"refund.json" in each.read_bytes()]


def is_alive(pid):
    """Whether there is such a process, and it has not ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def judging(runner, workspace, tmp_path):
    """A job whose judge is at work on patterns that take long: its process and the judge's number."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes can't be listed here")
    slow = "".join(f"      - {{regex: '(a|a)+(a|{one})+(a|a)+$'}}\n" for one in "abcdefgh")
    (workspace / "evals/support.yaml").write_text(SUITE + slow)
    write_trace(workspace, trace(content="a" * 40 + "b"))
    environ = {**runner.environment(token=TOKEN), "RUNNER_TEMP": str(tmp_path), "INPUT_BASELINE": "none"}
    environ |= {"INPUT_COMMENT": "off", "SOME_VALUE": PLANTED}
    command = [sys.executable, "-I", ENTRYPOINT]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, cwd=workspace)
    until = time.monotonic() + 20
    while not judges_in(tmp_path) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert judges_in(tmp_path), "no judge has begun"
    [judge] = forked_by(process.pid)
    yield process, judge
    process.kill()
    process.communicate()
    with contextlib.suppress(ProcessLookupError):
        os.kill(judge, signal.SIGKILL)


def test_a_job_that_is_cancelled_takes_its_judge_and_its_folder_along(judging, tmp_path):
    process, judge = judging
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)

    assert process.returncode == 128 + signal.SIGTERM
    assert not is_alive(judge)
    assert list(tmp_path.glob("evalgate-*")) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_killed_judge_is_exit_code_2_that_names_what_it_was_reading(judging, workspace, number):
    process, judge = judging
    os.kill(judge, number)
    printed, _ = process.communicate(timeout=20)
    assert process.returncode == 2, printed
    assert b"while it was reading traces/refund.json for evals/support.yaml" in printed
    results = json.loads((workspace / ".evalgate/results.json").read_text())
    assert results["reasons"][0]["code"] == "over_limit"


def memory_of(pid):
    """All that a process can read of its own memory; skips where that is not allowed."""
    found = []
    try:
        places = Path(f"/proc/{pid}/maps").read_text().splitlines()
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for place in places:
                start, end = (int(each, 16) for each in place.split()[0].split("-"))
                with contextlib.suppress(OSError, OverflowError, ValueError):
                    memory.seek(start)
                    found.append(memory.read(end - start))
    except PermissionError:
        pytest.skip("only root may look into the memory of a process that is private")
    return b"".join(found)


def test_the_memory_of_a_judge_never_held_a_value_of_the_environment(judging):
    process, judge = judging
    assert Path(f"/proc/{judge}/environ").read_bytes() == b""
    held, known = memory_of(judge), memory_of(process.pid)
    assert b"evals/support.yaml" in held
    for secret in (TOKEN.encode(), PLANTED.encode()):
        assert secret in known
        assert secret not in held
    opened = [str(each.readlink()) for each in Path(f"/proc/{judge}/fd").iterdir()]
    assert not [path for path in opened if "environment" in path or path.startswith(("pipe", "socket"))]


def test_nothing_of_the_workspace_and_nothing_the_environment_names_is_run(runner, workspace, tmp_path):
    for name in ("sitecustomize", "usercustomize", "json", "yaml", "regex", "evalgate", "signal", "typing"):
        (workspace / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    lies = {name: str(workspace) for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPLATLIBDIR")}
    lies |= {"PYTHONSTARTUP": str(workspace / "json.py"), "PYTHONINSPECT": "1", "PYTHONWARNINGS": "error"}
    environ = {**runner.environment(token=""), "INPUT_BASELINE": "none", **lies}
    command = [sys.executable, "-I", ENTRYPOINT]
    done = subprocess.run(command, env=environ, cwd=workspace, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def traced(hub, runner, tmp_path):
    """The calls that start programs and open connections, of all processes of a run."""
    strace = require("strace")
    on_main(hub)
    environ = runner.environment()
    log = tmp_path / "strace"
    command = [strace, "-f", "-e", f"trace={CALLS}", "-o", log, sys.executable, "-I", ENTRYPOINT.name]
    folder = ENTRYPOINT.parent  # strace cuts long paths, and what is sent to GitHub before the token in it
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=60)
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
    spoken = [(pid, rest) for pid, call, rest in traced if call == "connect" and not OUR_OWN_MACHINE.search(rest)]
    assert {re.search(r"sin6?_port=htons\((\d+)\)", rest)[1] for _, rest in spoken} <= hub_ports(hub)
    assert judging not in {pid for pid, _ in spoken}


def hub_ports(hub):
    addresses = (hub.info.github_api_url, hub.info.blob, hub.info.results_url)
    return {re.search(r":(\d+)(/|$)", address)[1] for address in addresses}
