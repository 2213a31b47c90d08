"""The workflow that records again what got worse, step by step: a repository, an agent, a provider, and GitHub's side."""

from __future__ import annotations

import os
import re
import shutil
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


def read_workflow(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def git(folder, *words):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run([require("git"), *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_repository(folder, base, head, agent=AGENT):
    """A repository with the agent before and after a change; returns both commits."""
    (folder / "evals").mkdir(parents=True)
    (folder / "evals/support.yaml").write_text(SUITE)
    git(folder, "init", "-q")
    for trials in (base, head):
        (folder / "agent.txt").write_text(trials)
        (folder / "agent.py").write_text(AGENT if trials is base else agent)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "--allow-empty", "-m", trials)
    return git(folder, "rev-parse", "HEAD~"), git(folder, "rev-parse", "HEAD")


@pytest.fixture
def provider():
    found = FakeProviders()
    yield found
    found.close()


@pytest.fixture
def workflow(hub, provider, tmp_path):
    """Runs the jobs of confirm.yml, each on a machine of its own; returns the result of the last, which is the check."""

    def run(base, head, agent=AGENT):
        commits = dict(zip(("base", "head"), make_repository(tmp_path / "repository", base, head, agent), strict=True))
        pull = hub.state["pulls"]["7"]
        for side, commit in commits.items():
            hub.commit(commit)
            pull[side]["sha"] = commit
        current(hub).update(head_sha=commits["head"])
        return WorkflowRun(hub, provider, tmp_path, commits).run_jobs()

    return run


class WorkflowRun:
    """A run of the workflow: its artifacts, the outputs of its steps, and the commits of both sides."""

    def __init__(self, hub, provider, folder, commits):
        self.hub, self.provider, self.folder, self.commits = hub, provider, folder, commits
        self.work, self.side, self.result, self.again = folder, "", "success", ""
        (folder / "artifacts").mkdir()

    def run_jobs(self):
        found = read_workflow("confirm.yml")
        self.environ = found["env"]
        for name, job in found["jobs"].items():
            if name != "confirm" and ("failure" in self.result or (name == "again" and not self.again)):
                continue
            for side in job.get("strategy", {}).get("matrix", {}).get("side", [""]):
                self.side, self.work = side, self.folder / f"work-{name}{side}"
                self.work.mkdir()
                result = "success"
                for step in job["steps"]:
                    if result == "success" or "!cancelled()" in step.get("if", ""):
                        result = "failure" if "failure" in (self.run_step(step), result) else result
                self.result = result if result == "failure" else self.result
        return self.result

    def run_step(self, step):
        """One step as the runner runs it; its result."""
        if "again" in step.get("if", "") and not self.again:
            return "success"
        condition = re.search(r"hashFiles\('(.+?)'\)", step.get("if", ""))
        if condition and not (self.work / condition[1]).exists():
            return "success"
        given = {key: str(text).replace("${{ matrix.side }}", self.side) for key, text in step.get("with", {}).items()}
        if "checkout" in step.get("uses", ""):
            self.check_out(given)
        elif "upload-artifact" in step.get("uses", ""):
            self.upload(given["name"], given["path"].split())
        elif "download-artifact" in step.get("uses", ""):
            if not (self.folder / "artifacts" / given["name"]).exists():
                return "failure"
            shutil.copytree(self.folder / "artifacts" / given["name"], self.work / given["path"], dirs_exist_ok=True)
        elif step.get("id") != "install":
            return self.run_shell(step)
        return "success"

    def check_out(self, given):
        if side := re.search(r"pull_request(?:\.(base|head)|\[matrix\.side\])\.sha", given["ref"]):
            git(self.folder, "clone", "-q", "repository", f"{self.work.name}/{given['path']}")
            git(self.work / given["path"], "checkout", "-q", self.commits[side[1] or self.side])

    def upload(self, name, paths):
        """Keeps the files below the paths; of a single folder without its path, as GitHub does."""
        if name.startswith("evalgate-report"):
            path = self.work / paths[0]
            self.hub.plant(files={path.name: path.read_text()}, name=name, run_id=current(self.hub)["id"])
            return
        kept = self.folder / "artifacts" / name
        for path in paths:
            found, place = self.work / path, kept if len(paths) == 1 else kept / path
            if found.is_dir():
                shutil.copytree(found, place)
            else:
                shutil.copy(found, place)

    def run_shell(self, step):
        """Runs a step's script; EvalGate itself runs in this process."""
        environ = {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "GITHUB_WORKSPACE": str(self.work),
            "GITHUB_SHA": "m" * 40,
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_OUTPUT": str(self.work / "output"),
            "OPENAI_BASE_URL": f"{self.provider.url}/v1",
            **self.environ,
            **{key: "sk-x" if "secrets." in text else text for key, text in step.get("env", {}).items()},
        }
        (self.folder / "bin").mkdir(exist_ok=True)
        if not (self.folder / "bin/python").exists():
            (self.folder / "bin/python").symlink_to(sys.executable)
        command = [BASH, "--noprofile", "--norc", "-e", "-c", step["run"]]
        code, log = run_script(command, self.work / ".evalgate-venv/bin/python", environ, self.work)
        with (self.folder / "log").open("a") as stream:
            stream.write(log)
        if (self.work / "output").exists():
            self.again = "again=true" in (self.work / "output").read_text()
        return "failure" if code else "success"


@pytest.mark.parametrize(
    "story",
    [
        "flaky_recovery",
        *(pytest.param(name, marks=pytest.mark.matrix) for name in STORIES if name != "flaky_recovery"),
    ],
)
def test_what_got_worse_is_recorded_again_and_the_comment_says_what_all_trials_show(
    hub, act, workflow, tmp_path, story
):
    base, head, ends, heading, usd = STORIES[story]
    result = workflow(base, head)
    log = (tmp_path / "log").read_text()
    assert result == ends, log
    judged = current(hub)["id"]
    next_run(hub, ends, event="workflow_run", head_branch="main", head_repository_id=1001)
    given = {
        name.replace("-", "_"): text
        for name, text in read_workflow("confirm-publish.yml")["jobs"]["publish"]["steps"][0]["with"].items()
    }
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


REWRITES = """
if os.path.isdir("../base"):
    for path in ("../base/agent.txt", "../base/traces"):
        open(path, "w").write("fffffff") if os.path.isfile(path) else os.path.isdir(path) and os.rename(path, path + "-gone")
"""


@pytest.mark.matrix
def test_an_agent_that_rewrites_the_bases_checkout_makes_it_no_failure_of_the_base(workflow, tmp_path):
    assert workflow("pppppp", "ffffff", AGENT + REWRITES) == "failure"
    assert "regression: refund: " in (tmp_path / "log").read_text()


@pytest.mark.matrix
def test_a_side_that_leaves_no_recording_fails_the_check(workflow):
    assert workflow("pppppp", "ffffff", "raise SystemExit") == "failure"
