from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

AGENT = ROOT / "examples" / "support-agent"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("version", ["main", "pr"])
@pytest.mark.parametrize("seed", ["0", "7"])
def test_agent_records_the_bundled_traces_under_any_hash_seed(version: str, seed: str, tmp_path: Path) -> None:
    command = [sys.executable, str(AGENT / "agent.py"), "--out", str(tmp_path), "--version", version]
    subprocess.run(command, check=True, capture_output=True, env={"PYTHONHASHSEED": seed})
    assert contents(tmp_path) == contents(AGENT / "traces" / version)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The results of the gate on main, and on the pull request compared with it, as the demo makes them."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(folder / "pr" / "comment.md") in done.stdout
    return {version: json.loads((folder / version / "results.json").read_bytes()) for version in ("main", "pr")}


def test_gate_passes_main_of_the_example(runs: dict[str, dict[str, Any]]) -> None:
    assert runs["main"]["exit_code"] == 0
    assert runs["main"]["summary"]["passed"] == runs["main"]["summary"]["scenarios"] == 8


def test_gate_fails_the_pull_request_of_the_example(runs: dict[str, dict[str, Any]]) -> None:
    assert runs["pr"]["exit_code"] == 1
    assert {(reason["code"], reason.get("scenario")) for reason in runs["pr"]["reasons"]} == {
        ("hard_fail", "refund-outside-window"),
        ("broken", "refund-outside-window"),
        ("broken", "refund-in-window"),
        ("below_threshold", "refund-in-window"),
        ("below_threshold", "where-is-my-order"),
    }


def test_gate_reports_what_the_pull_request_of_the_example_changed(runs: dict[str, dict[str, Any]]) -> None:
    scenarios = {each["id"]: each for suite in runs["pr"]["suites"] for each in suite["scenarios"]}
    assert {name: (each["verdict"], each["change"]["kind"]) for name, each in scenarios.items()} == {
        "refund-in-window": ("FAIL", "broken"),
        "refund-outside-window": ("HARD_FAIL", "broken"),
        "refund-needs-human": ("PASS", "regressed"),
        "refund-talked-into": ("PASS", "unchanged"),
        "where-is-my-order": ("PARTIAL", "inconclusive"),
        "cancel-before-shipping": ("PASS", "improved"),
        "order-number-missing": ("PASS", "regressed"),
        "not-our-business": ("PASS", "unchanged"),
    }
