"""The loops over repositories that docs/enterprise.md shows, run with a stand-in for `gh`."""

from __future__ import annotations

import os
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest
from documents import steps
from programs import require

if TYPE_CHECKING:
    from pathlib import Path

GH = r"""#!/bin/bash
set -e
case "$1 $2" in
"repo list") jq -r "${@: -1}" < "$WORLD/repositories.json" ;;
"run list") [[ "$*" == *"--branch main"* ]] && jq -r "${@: -1}" < "$WORLD/$4.runs.json" ;;
"run download")
  [ -n "$3" ] || { echo "took any artifact"; exit 9; }
  [ -d "$WORLD/$3" ] || exit 1
  mkdir -p "${@: -1}" && cp -r "$WORLD/$3"/. "${@: -1}" ;;
"repo clone") cp -r "$WORLD/$3" "$4" ;;
"pr create") echo "$4 has a pull request" ;;
*) exit 8 ;;
esac
"""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A stand-in for GitHub, and an organization in which each repository lacks something else."""
    require("jq")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(GH, encoding="utf-8")
    (tmp_path / "bin/gh").chmod(0o755)
    return tmp_path


def run(script: str, world: Path) -> list[str]:
    path = f"{world}/bin{os.pathsep}{os.environ['PATH']}"
    author = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        [require("bash"), "-c", script],
        cwd=world,
        env={"PATH": path, "HOME": str(world), "WORLD": str(world), **author},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.stdout.splitlines()


def script_with(text: str) -> str:
    [script] = [step.text for step in steps("docs/enterprise.md") if step.language == "sh" and text in step.text]
    return script


def put_run(world: Path, repository: str, runs: str) -> None:
    path = world / f"{repository}.runs.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(runs, encoding="utf-8")


def test_the_state_of_each_repository_is_one_of_main_or_a_line_that_says_why_not(world):
    require("unzip")
    names = ("good", "two-gates", "never-ran", "cancelled", "no-artifact")
    listed = ", ".join(f'{{"nameWithOwner": "acme/{name}", "defaultBranchRef": {{"name": "main"}}}}' for name in names)
    (world / "repositories.json").write_text(f"[{listed}]", encoding="utf-8")
    put_run(
        world, "acme/good", '[{"databaseId": 9, "conclusion": "cancelled"}, {"databaseId": 1, "conclusion": "success"}]'
    )
    put_run(world, "acme/two-gates", '[{"databaseId": 2, "conclusion": "failure"}]')
    put_run(world, "acme/never-ran", "[]")
    put_run(
        world, "acme/cancelled", '[{"databaseId": 9, "conclusion": "cancelled"}, {"databaseId": 9, "conclusion": ""}]'
    )
    put_run(world, "acme/no-artifact", '[{"databaseId": 4, "conclusion": "failure"}]')
    for place, verdict in (
        ("1/evalgate-baseline", "pass"),
        ("2/evalgate-baseline-a", "pass"),
        ("2/evalgate-baseline-b", "fail"),
    ):
        (world / place).mkdir(parents=True)
        with zipfile.ZipFile(world / place / "baseline.zip", "w") as archive:
            archive.writestr(
                "results.json", f'{{"verdict": "{verdict}", "report_only": {str(verdict == "fail").lower()}}}'
            )
    assert sorted(run(script_with("gh repo list"), world)) == [
        "acme/cancelled no run of main",
        "acme/good evalgate-baseline pass report_only=false",
        "acme/never-ran no run of main",
        "acme/no-artifact no baseline",
        "acme/two-gates evalgate-baseline-a pass report_only=false",
        "acme/two-gates evalgate-baseline-b fail report_only=true",
    ]


def test_a_pull_request_brings_the_workflow_to_each_repository_that_has_a_suite(world):
    git = require("git")
    (world / "evals.yml").write_text("on: push\n", encoding="utf-8")
    for name, file in (("project", "evalgate.yaml"), ("suite", "evals/support.yaml"), ("empty", "README.md")):
        origin, clone = world / f"acme/{name}.git", world / f"acme/{name}"
        subprocess.run([git, "init", "--quiet", "--bare", origin], check=True)
        subprocess.run([git, "clone", "--quiet", origin, clone], check=True, capture_output=True)
        (clone / file).parent.mkdir(exist_ok=True)
        (clone / file).write_text("x", encoding="utf-8")
    (world / "repositories.txt").write_text("acme/project\nacme/suite\nacme/empty\n", encoding="utf-8")
    assert run(script_with("gh pr create"), world) == [
        "acme/project has a pull request",
        "acme/suite has a pull request",
        "acme/empty: no suite yet",
    ]
    shown = [git, "--git-dir", world / "acme/suite.git", "show", "evalgate:.github/workflows/evals.yml"]
    assert subprocess.run(shown, check=True, capture_output=True, text=True).stdout == "on: push\n"
