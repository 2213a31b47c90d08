"""The workflow that records again what got worse, step by step: a repository, an agent, a provider, and GitHub's side."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
import yaml
from action_steps import BASH
from command_server import run_script
from documents import ROOT
from fakes.agent import current, next_run, own_comments
from fakes.providers import FakeProviders
from programs import require

FOLDER = ROOT / "examples/workflows"
SUITE = """suite: support
prices: {gpt-fake-2026: {input: 100, output: 100}}
scenarios:
  - {id: refund, prompt: Refund it., assertions: [{type: tool_called, tool: find_order}]}
policy: {fail_on: [broken]}
"""
AGENT = """import http.client, json, os, sys

asks = open("agent.txt").read()[int(os.environ["EVALGATE_TRIAL"])] == "p"
tools = [{"type": "function", "function": {"name": "find_order", "parameters": {"type": "object"}}}] if asks else []
messages = [{"role": "user", "content": sys.argv[1]}]
place = os.environ["OPENAI_BASE_URL"].removeprefix("http://")
while True:
    body = json.dumps({"model": "gpt-fake", "messages": messages, "tools": tools}).encode()
    headers = {"Content-Type": "application/json"}
    line = http.client.HTTPConnection(place.partition("/")[0])
    line.request("POST", "/" + place.partition("/")[2] + "/chat/completions", body, headers)
    messages.append(json.loads(line.getresponse().read())["choices"][0]["message"])
    if not messages[-1].get("tool_calls"):
        break
    calls = messages[-1]["tool_calls"]
    messages += [{"role": "tool", "tool_call_id": each["id"], "content": "found"} for each in calls]
"""
PASSED = "EvalGate passed, but 1 scenario got worse at first: recorded again, it"
STORIES = {
    "regression": ("pppppp", "ffffff", "failure", "EvalGate failed: scenario ` refund ` broke", "0.0555"),
    "flaky_recovery": ("pppppp", "fppppp", "success", f"{PASSED} recovered", "0.074"),
    "base_was_lucky": ("pfffff", "ffffff", "success", f"{PASSED} fails on the base too (passed 1 of 6", "0.037"),
    "no change": ("pppppp", "pppppp", "success", "EvalGate passed: no change since the baseline", ""),
}
"""Trials that pass on the base and on the pull request, how the job ends, the comment's heading, what was added in USD."""


def read_job(name):
    [job] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))["jobs"].values()
    return job


def git(folder, *words):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run([require("git"), *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_repository(folder, base, head):
    """A repository with the agent before and after a change; returns both commits."""
    (folder / "evals").mkdir(parents=True)
    (folder / "evals/support.yaml").write_text(SUITE)
    (folder / "agent.py").write_text(AGENT)
    git(folder, "init", "-q")
    for trials in (base, head):
        (folder / "agent.txt").write_text(trials)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "--allow-empty", "-m", trials)
    return git(folder, "rev-parse", "HEAD~"), git(folder, "rev-parse", "HEAD")


@pytest.fixture
def provider():
    found = FakeProviders()
    yield found
    found.close()


@pytest.fixture
def job(hub, provider, tmp_path):
    """Runs confirm.yml, then confirm-publish.yml; returns the result of the first and the comment."""

    def run(base, head):
        commits = dict(zip(("base", "head"), make_repository(tmp_path / "repository", base, head), strict=True))
        pull = hub.state["pulls"]["7"]
        for side, commit in commits.items():
            hub.commit(commit)
            pull[side]["sha"] = commit
        current(hub).update(head_sha=commits["head"])
        (tmp_path / "work").mkdir()
        result = "success"
        for step in read_job("confirm.yml")["steps"]:
            found = run_step(hub, provider, tmp_path, step, commits)
            result = found if result == "success" else result
        return result

    return run


def run_step(hub, provider, folder, step, commits):
    """One step as the runner runs it; its result."""
    work, given = folder / "work", step.get("with", {})
    condition = re.search(r"hashFiles\('(.+?)'\)", step.get("if", ""))
    if condition and not (work / condition[1]).exists():
        return "success"
    if "checkout" in step.get("uses", ""):
        if side := re.search(r"pull_request\.(base|head)\.sha", given["ref"]):
            git(folder, "clone", "-q", "repository", f"work/{given['path']}")
            git(work / given["path"], "checkout", "-q", commits[side[1]])
    elif "upload-artifact" in step.get("uses", ""):
        path = work / given["path"]
        hub.plant(files={path.name: path.read_text()}, name=given["name"], run_id=current(hub)["id"])
    elif step.get("id") != "install":
        return run_shell(provider, folder, step)
    return "success"


def run_shell(provider, folder, step):
    """Runs a step's script; EvalGate itself runs in this process."""
    work = folder / "work"
    environ = {
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
        "GITHUB_WORKSPACE": str(work),
        "GITHUB_SHA": "m" * 40,
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        **{key: "sk-x" if "secrets." in text else text for key, text in step.get("env", {}).items()},
    }
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin/python").exists():
        (folder / "bin/python").symlink_to(sys.executable)
    command = [BASH, "--noprofile", "--norc", "-e", "-c", step["run"]]
    code, log = run_script(command, work / ".evalgate-venv/bin/python", environ, work)
    (folder / f"{step.get('id', 'step')}.log").write_text(log)
    return "failure" if code else "success"


@pytest.mark.parametrize(
    "story",
    [
        "flaky_recovery",
        *(pytest.param(name, marks=pytest.mark.matrix) for name in STORIES if name != "flaky_recovery"),
    ],
)
def test_what_got_worse_is_recorded_again_and_the_comment_says_what_all_trials_show(hub, act, job, tmp_path, story):
    base, head, ends, heading, usd = STORIES[story]
    result = job(base, head)
    log = (tmp_path / "confirm.log").read_text()
    assert result == ends, log
    judged = current(hub)["id"]
    next_run(hub, ends, event="workflow_run", head_branch="main", head_repository_id=1001)
    given = {name.replace("-", "_"): text for name, text in read_job("confirm-publish.yml")["steps"][0]["with"].items()}
    act("workflow_run", after_run=judged, **given)
    [comment] = own_comments(hub)
    assert heading in comment.split("\n")[2], comment
    assert heading in (tmp_path / "summary").read_text()
    if story == "no change":
        assert "Recorded again" not in comment
        return
    assert f"{story}: refund: " in log
    assert f"10 recordings, {usd} USD. All trials together decide." in comment
    assert f"| ` refund ` | {story.replace('_', ' ')}: " in comment
