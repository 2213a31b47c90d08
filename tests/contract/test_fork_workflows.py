"""The two workflows for pull requests of forks fit together, and the writing one touches no untrusted file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/workflows"


def workflow(name):
    loaded = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    [job] = loaded["jobs"].values()
    return loaded, job


def gate(job):
    [step] = [step for step in job["steps"] if step.get("uses", "").startswith("org/evalgate@")]
    return step["with"]


@pytest.fixture(scope="module")
def evaluate():
    return workflow("fork-evaluate.yml")


@pytest.fixture(scope="module")
def publish():
    return workflow("fork-publish.yml")


def test_the_second_starts_when_the_first_has_finished(evaluate, publish):
    trigger = publish[0][True]["workflow_run"]  # YAML reads `on` as true
    assert trigger == {"workflows": [evaluate[0]["name"]], "types": ["completed"]}
    assert publish[1]["if"] == "github.event.workflow_run.event == 'pull_request'"


def test_both_have_the_same_key(evaluate, publish):
    assert gate(evaluate[1])["comment-key"] == gate(publish[1])["comment-key"]
    assert (gate(evaluate[1])["mode"], gate(publish[1])["mode"]) == ("evaluate", "publish")


def test_the_first_can_only_read(evaluate):
    assert evaluate[0]["permissions"] == {}
    assert set(evaluate[1]["permissions"].values()) == {"read"}


def test_the_second_runs_one_step_which_checks_nothing_out(publish):
    assert publish[0]["permissions"] == {}
    assert publish[1]["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert len(publish[1]["steps"]) == 1


@pytest.mark.parametrize("name", ["fork-evaluate.yml", "fork-publish.yml"])
def test_their_inputs_are_inputs_of_the_action(name):
    declared = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(gate(workflow(name)[1])) <= set(declared)


def test_the_documentation_names_both():
    text = (ROOT / "docs/github.md").read_text(encoding="utf-8")
    assert "`examples/workflows/fork-evaluate.yml`" in text
    assert "`examples/workflows/fork-publish.yml`" in text
