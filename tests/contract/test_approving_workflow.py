"""The approval workflow fits the gate's, has few permissions, and runs no file of a pull request."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from documents import blocks, is_steps

from evalgate.suite.approve_command import parse_command

ROOT = Path(__file__).resolve().parents[2]
SHOWN = [block.text for block in blocks("yaml") if block.document == "docs/approvals.md"]


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load((ROOT / "examples/workflows/approve.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def job(workflow):
    return workflow["jobs"]["approve"]


def test_it_runs_on_new_comments_of_pull_requests_only(workflow, job):
    assert workflow[True] == {"issue_comment": {"types": ["created"]}}  # YAML reads `on` as true
    condition = job["if"]
    assert condition.startswith("github.event.issue.pull_request && ")
    assert "startsWith(github.event.comment.body, '/evalgate ')" in condition


def test_it_can_not_write_code_or_start_a_run(workflow, job):
    assert workflow["permissions"] == {}
    assert job["permissions"] == {"actions": "read", "checks": "write", "pull-requests": "write"}


def test_it_is_one_step_which_checks_nothing_out_and_takes_no_text_of_the_event(job):
    [step] = job["steps"]
    assert step["uses"].startswith("org/evalgate@")
    assert "${{" not in str(step)


def test_its_inputs_are_inputs_and_fit_the_gates(job):
    [step] = job["steps"]
    declared = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(step["with"]) <= set(declared)
    assert (ROOT / "examples/workflows" / step["with"]["baseline-workflow"]).exists()
    [gate] = next(found for found in map(yaml.safe_load, SHOWN) if is_steps(found))
    inputs = gate["with"]
    assert inputs["approvals-from"] == "comments"
    assert {name: inputs[name] for name in ("comment-key", "check-run")} == {
        name: step["with"][name] for name in ("comment-key", "check-run")
    }


def test_the_commands_that_the_documentation_shows_are_commands():
    text = (ROOT / "docs/approvals.md").read_text(encoding="utf-8")
    shown = [line for line in text.splitlines() if line.startswith("/evalgate")]
    assert len(shown) == 3
    assert not any(isinstance(parse_command(line), str | None) for line in shown)
