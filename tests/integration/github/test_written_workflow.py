"""The workflow that `init --workflow` writes, each step of it as the runner runs it, on an agent's first traces."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from action_steps import run_step
from documents import ROOT
from fakes.agent import next_run, on_main, own_comments
from fakes.providers import CALLS, TEXT, FakeProviders
from fakes.runner import FakeRunner
from in_process_command import evalgate
from recording_runs import SDKS, needs_sdks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD = ROOT / "record/action.yml"
PROMPTS = {"refund": "Please refund my order A-7.", "return": "May I return order A-7?"}
KEY = "a-key-of-a-test"


@pytest.fixture
def provider() -> Iterator[FakeProviders]:
    found = FakeProviders()
    yield found
    found.close()


def write_trace(folder: Path, scenario: str, trial: int) -> None:
    """A trace as an agent's own code writes it: what tests/recorded_agents/plain.py does."""
    calls = [{"id": name, "name": name, "arguments": arguments} for name, arguments in CALLS]
    messages = [
        {"role": "user", "content": PROMPTS[scenario]},
        {"role": "assistant", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": name, "content": "found"} for name, _ in CALLS),
        {"role": "assistant", "content": TEXT},
    ]
    document = {"schema": "evalgate.trace/1", "scenario_id": scenario, "trial": trial, "messages": messages}
    document["metadata"] = {
        "evalgate.command": shlex.join(["/home/me/.venv/bin/python3", "agent.py", PROMPTS[scenario]])
    }
    (folder / f"{scenario}-{trial}.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with an agent and two traces for each of two requests."""
    folder = tmp_path / "project"
    (folder / "traces").mkdir(parents=True)
    for name, copied in (("plain.py", "agent.py"), ("tools.py", "tools.py")):
        shutil.copy(ROOT / "tests/recorded_agents" / name, folder / copied)
    for scenario in PROMPTS:
        for trial in range(2):
            write_trace(folder / "traces", scenario, trial)
    return folder


def replay(runner: FakeRunner, project: Path, url: str, event: str, programs: str = os.environ["PATH"]) -> Any:
    """Runs the job's steps on a fresh checkout, which lacks what git ignores; returns what the gate's step did.

    `url` is that of the provider, `programs` is where the runner finds Python.
    """
    shutil.rmtree(project / "traces")
    job = yaml.safe_load((project / ".github/workflows/evalgate.yml").read_text(encoding="utf-8"))["jobs"]["gate"]
    checkout, python, *packages, record, gate = job["steps"]  # one agent needs no package, the other has that of openai
    assert packages in ([], [{"run": "pip install openai"}])
    assert (checkout["uses"].startswith("actions/checkout@"), python["with"]) == (True, {"python-version": "3.13"})
    assert record["env"] == {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}
    declared = yaml.safe_load(RECORD.read_text(encoding="utf-8"))["inputs"]
    inputs = {name: str(record["with"].get(name, each.get("default", ""))) for name, each in declared.items()}
    inputs["options"] += "\n--flush=0"  # the agent sends no spans
    known = {
        "steps.install.outputs.python": sys.executable,
        "github.action_path": str(RECORD.parent),
        "toJSON(inputs)": json.dumps(inputs),
        "inputs.working-directory": str(project),
    }
    of_job = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "GITHUB_OUTPUT": str(project.parent / "out")}
    ended = run_step(RECORD, "record", known, {**of_job, "PATH": programs})
    assert ended.code == 0, ended.log
    assert gate["if"] == "${{ !cancelled() }}"
    return runner.act(event, **{name.replace("-", "_"): value for name, value in gate["with"].items()})


def test_its_steps_pass_on_main(hub: Any, project: Path, provider: FakeProviders, tmp_path: Path) -> None:
    written = evalgate("init", "traces", "--workflow", cwd=str(project))
    assert written.exit_code == 0, written.err
    runner = FakeRunner(hub, project, tmp_path)
    on_main(hub)
    step = replay(runner, project, provider.url, "push")
    assert (step.exit_code, step.outputs["scenarios-passed"]) == (0, "2"), step.summary
    asked = [body["messages"][1]["content"] for _, _, body in provider.requests]
    assert Counter(asked) == dict.fromkeys(PROMPTS.values(), 4)  # two requests in each of two trials


@pytest.mark.matrix  # 12 starts of an SDK
@needs_sdks
def test_they_name_what_a_pull_request_breaks_in_the_agent_of_the_first_hour(
    hub: Any, shared: Path, tmp_path: Path
) -> None:
    first_hour = shared / "cases/first-hour"
    project = tmp_path / "project"
    shutil.copytree(first_hour / "traces-main", project / "traces")
    shutil.copy(first_hour / "my_agent.py", project)
    assert evalgate("init", "traces", "--workflow", cwd=str(project)).exit_code == 0
    runner = FakeRunner(hub, project, tmp_path)
    on_main(hub)
    programs = f"{SDKS.parent}:{os.environ['PATH']}"
    with start_provider(first_hour / "provider.py") as url:
        step = replay(runner, project, url, "push", programs)
        assert (step.exit_code, step.outputs["scenarios-passed"]) == (0, "2"), step.summary
        next_run(hub, "success")
        agent = project / "my_agent.py"
        agent.write_text(agent.read_text().replace('"BREAK", ""', '"BREAK", "wrongarg"'))
        step = replay(runner, project, url, "pull_request", programs)
    assert step.exit_code == 1, step.summary
    [comment] = own_comments(hub)
    assert "TP534" in comment


@contextmanager
def start_provider(script: Path) -> Iterator[str]:
    """A provider that a script plays on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen([sys.executable, str(script), str(port)])
    try:
        for _ in range(100):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()
