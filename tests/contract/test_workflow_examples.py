"""Every workflow that people copy has an end, cancels what is outdated, and passes the checkers of workflows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from documents import blocks, is_steps
from programs import require

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/workflows"
EXAMPLES = sorted(FOLDER.glob("*.yml"))
IN_PAGES = {
    f"{Path(block.document).stem}-{number}.yml": block.text
    for number, block in enumerate(blocks("yaml"))
    if "runs-on:" in block.text
}
STEPS = {
    f"{Path(block.document).stem}-steps-{number}.yml": yaml.safe_load(block.text)
    for number, block in enumerate(blocks("yaml"))
    if is_steps(yaml.safe_load(block.text))
}
"""Steps that pages show without their job."""
GATE = re.compile(r"org/evalgate(/composite)?@")
WORKFLOWS = {**{path.name: path.read_text(encoding="utf-8") for path in EXAMPLES}, **IN_PAGES}


def is_reusable(workflow: dict) -> bool:
    """Whether only other workflows start it."""
    return set(workflow[True]) == {"workflow_call"}  # YAML reads `on` as true


@pytest.mark.parametrize("text", WORKFLOWS.values(), ids=WORKFLOWS)
def test_every_workflow_limits_its_time_and_what_runs_at_once(text):
    workflow = yaml.safe_load(text)
    if is_reusable(workflow):
        assert "concurrency" not in workflow  # it would have its caller's group, and one would cancel the other
    else:
        assert set(workflow["concurrency"]) == {"group", "cancel-in-progress"}
        assert "github.workflow" in workflow["concurrency"]["group"]
    for name, job in workflow["jobs"].items():
        # the job of a reusable workflow has its own time
        assert "uses" in job or isinstance(job["timeout-minutes"], int), name


@pytest.mark.parametrize("text", WORKFLOWS.values(), ids=WORKFLOWS)
def test_only_a_newer_commit_of_the_pull_request_cancels_a_run(text):
    """A cancelled run on main leaves no baseline, a cancelled approval no green check."""
    workflow = yaml.safe_load(text)
    if is_reusable(workflow):
        return
    group, cancels = workflow["concurrency"]["group"], workflow["concurrency"]["cancel-in-progress"]
    if "pull_request" in workflow[True]:  # YAML reads `on` as true
        assert cancels is True
        assert group.endswith("-${{ github.event.pull_request.number || github.run_id }}")
    else:
        assert cancels is False


def test_a_comment_that_approves_nothing_waits_for_no_approval_and_replaces_none():
    workflow = yaml.safe_load((FOLDER / "approve.yml").read_text(encoding="utf-8"))
    command = "startsWith(github.event.comment.body, '/evalgate ')"
    assert command in workflow["jobs"]["approve"]["if"]
    assert f"{command} && github.event.issue.number || github.run_id" in workflow["concurrency"]["group"]


def in_a_workflow(steps: list[dict]) -> str:
    """The example of a workflow, with these steps in its job."""
    workflow = yaml.safe_load((FOLDER / "evalgate.yml").read_text(encoding="utf-8"))
    workflow["on"] = workflow.pop(True)  # YAML reads `on` as true
    workflow["jobs"]["gate"]["steps"] = steps
    return yaml.safe_dump(workflow)


def test_every_input_that_a_workflow_or_a_page_gives_to_the_gate_exists():
    inputs = set(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"])
    jobs = [job for text in WORKFLOWS.values() for job in yaml.safe_load(text)["jobs"].values()]
    steps = [step for each in [*(job.get("steps", []) for job in jobs), *STEPS.values()] for step in each]
    given = [step.get("with", {}) for step in steps if GATE.match(step.get("uses", ""))]
    assert len(given) > len(EXAMPLES)
    assert {name for each in given for name in each} <= inputs


@pytest.mark.parametrize(
    "command",
    [["check-jsonschema", "--builtin-schema", "vendor.github-workflows"], ["zizmor", "--offline", "--no-progress"]],
)
def test_the_checkers_find_nothing(command, tmp_path):
    for name, text in {**IN_PAGES, **{name: in_a_workflow(steps) for name, steps in STEPS.items()}}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = ["--config", ROOT / ".github/zizmor.yml"] if command[0] == "zizmor" else []
    tool = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [tool, *command[1:], *options, *EXAMPLES, *tmp_path.iterdir()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert IN_PAGES


WHAT_DECIDES = [
    "my_agent.py",
    "evals/support.yaml",
    "evalgate.yaml",
    "evalgate-approvals.yaml",
    "traces/a.json",
    "requirements.txt",
    "src/library.py",
    "prompts/README.md",
    ".github/workflows/evalgate.yml",
]
"""Files of which a change can change the verdict: the agent, what it imports, its rules, its recordings."""


@pytest.fixture(params=["required-check.yml", "organization.yml"])
def required(request):
    return yaml.safe_load((FOLDER / request.param).read_text(encoding="utf-8"))


def listed(names: str | list[str]) -> list[str]:
    """The jobs that a job needs: YAML may name one or a list."""
    return [names] if isinstance(names, str) else names


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_no_last_job_is_skipped_if_a_job_before_it_fails(path):
    """A skipped job counts as passed where its check is required."""
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    needed = {name for job in jobs.values() for name in listed(job.get("needs", []))}
    for name, job in jobs.items():
        if "needs" in job and name not in needed:
            assert "always()" in job.get("if", "") or "!cancelled()" in job.get("if", ""), name


def git(folder, *words):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run([require("git"), *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("event", "changed", "expected"),
    [
        ("pull_request", "README.md", "agent=false\n"),
        ("pull_request", "docs/prompts.md", "agent=false\n"),
        *(("pull_request", name, "agent=true\n") for name in WHAT_DECIDES),
        ("push", "README.md", "agent=true\n"),
        ("merge_group", "README.md", "agent=true\n"),
    ],
)
def test_the_agent_runs_if_its_paths_changed(required, tmp_path, event, changed, expected):
    step = required["jobs"]["changes"]["steps"][-1]
    repository, output = tmp_path / "repository", tmp_path / "output"
    repository.mkdir()
    git(repository, "init", "-q")
    git(repository, "commit", "-q", "--allow-empty", "-m", "base")
    (repository / changed).parent.mkdir(parents=True, exist_ok=True)
    (repository / changed).write_text("x")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "change")
    environ = {**step["env"], "GITHUB_EVENT_NAME": event, "GITHUB_OUTPUT": str(output), "PATH": "/usr/bin:/bin"}
    subprocess.run(["/bin/bash", "-e", "-c", step["run"]], cwd=repository, env=environ, check=True)
    assert output.read_text() == expected


@pytest.mark.parametrize(
    ("changes", "agent", "gate", "code"),
    [
        ("success", "true", "success", 0),
        ("success", "false", "skipped", 0),
        ("success", "true", "failure", 1),
        ("success", "true", "cancelled", 1),
        ("success", "true", "skipped", 1),
        ("failure", "", "skipped", 1),
        ("cancelled", "", "skipped", 1),
    ],
)
def test_the_required_check_is_green_only_if_the_gate_passed_or_was_not_needed(required, changes, agent, gate, code):
    [step] = required["jobs"]["evalgate"]["steps"]
    assert required["jobs"]["evalgate"]["if"] == "always()"
    assert set(step["env"]) == {"CHANGES", "AGENT", "GATE"}
    environ = {"CHANGES": changes, "AGENT": agent, "GATE": gate}
    done = subprocess.run(["/bin/bash", "-e", "-c", step["run"]], env=environ, check=False)
    assert done.returncode == code


def test_a_required_check_has_no_path_filter(required):
    assert "paths" not in str(required[True])
