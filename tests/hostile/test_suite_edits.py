"""A failing pull request that changes only its suites never passes unless the heading names what is weaker."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from command import evalgate

from evalgate.scoring.wording import WEAKENING_WORDS
from hostile.suite_edits import PULL_REQUESTS, edits, write

if TYPE_CHECKING:
    from pathlib import Path

    from command import CommandResult

    from hostile.suite_edits import Edit, Files

NAMED = (
    *(words.removeprefix("a check ").replace("`", "") for words in WEAKENING_WORDS.values()),
    *("weaker than the baseline's", "the gate was weakened"),
)
EDITS = list(edits())
ENDS = {0, 1, 2, 3}


@pytest.fixture(scope="module")
def baselines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The baseline of each pull request, from a run of its base branch that passes."""
    found = {}
    for name, pull_request in PULL_REQUESTS.items():
        folder = tmp_path_factory.mktemp("base")
        write(folder, pull_request.base)
        assert evalgate(folder, []).code == 0, name
        found[name] = folder / ".evalgate" / "baseline.zip"
    return found


def run(folder: Path, files: Files, baseline: Path, *arguments: str) -> CommandResult:
    """Runs the pull request's files in a new folder."""
    write(folder, files)
    shutil.copy(baseline, folder / "base.zip")
    config = [] if "evalgate.yaml" in files else [next(name for name in files if name.endswith("evalgate.yaml"))]
    return evalgate(folder, [*config, "--baseline", "base.zip", *arguments])


def heading(ran: CommandResult) -> str:
    return next(line for line in ran.text("comment.md").splitlines() if "EvalGate" in line and line.startswith("#"))


@pytest.mark.parametrize("name", PULL_REQUESTS)
def test_a_pull_request_without_an_edit_is_red(tmp_path: Path, baselines: dict[str, Path], name: str) -> None:
    assert run(tmp_path, PULL_REQUESTS[name].head(), baselines[name]).code in (1, 3)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: f"{edit.pull_request}: {edit.name}")
def test_an_edit_of_the_suite_alone_is_red_or_named(tmp_path: Path, baselines: dict[str, Path], edit: Edit) -> None:
    files = PULL_REQUESTS[edit.pull_request].head()
    edit.change(files)
    ran = run(tmp_path / "warns", files, baselines[edit.pull_request])
    assert ran.code in ENDS
    assert ran.code or any(words in heading(ran) for words in NAMED), ran.stdout
    if ran.code == 0:  # a run that fails does so with any weakening
        strict = run(tmp_path / "fails", files, baselines[edit.pull_request], "--on-weakening", "fail")
        assert strict.code == 1, strict.stdout


def test_there_are_edits_enough() -> None:
    assert len(EDITS) >= 40
