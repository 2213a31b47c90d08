"""The example of several gates keeps their comments and baselines separate, and runs in a merge queue."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/workflows/several-gates.yml"


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["config", "comment-key", "baseline-artifact"])
def test_what_distinguishes_the_gates_differs_from_leg_to_leg(workflow, name):
    job = workflow["jobs"]["gate"]
    legs = job["strategy"]["matrix"]["suite"]
    given = job["steps"][-1]["with"][name]
    values = {given.replace("${{ matrix.suite }}", leg) for leg in legs}
    assert len(values) == len(legs) > 1


def test_the_merge_queue_gets_its_check(workflow):
    assert "merge_group" in workflow[True]  # YAML reads `on` as true


def test_a_gate_that_fails_does_not_cancel_the_other(workflow):
    assert workflow["jobs"]["gate"]["strategy"]["fail-fast"] is False
