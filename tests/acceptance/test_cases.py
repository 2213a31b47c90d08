"""Every folder of cases/ is one run of the command as a user starts it.

A case holds `suite.yaml` and `traces/`; `args` (one per line) for more arguments than the suite, `baseline.json`
for a comparison with an earlier run, and `before/`, the traces of that baseline. In `expected/`,
`exit_code` and `says` (lines that a person must be able to read somewhere) are written by hand. The documents
next to them are written by `EVALGATE_REFRESH=1 pytest tests/acceptance`, to be read before they are committed.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

if TYPE_CHECKING:
    from command import CommandResult

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir() if path.is_dir())
REFRESH = os.environ.get("EVALGATE_REFRESH") == "1"
VERDICTS = {"pass": {0}, "fail": {1}, "cannot_judge": {3, 4}, "invalid": {2}}
EARLIER = "1799913600"
"""A day before `command.NOW`, when baselines are made."""


def scrubbed(results: dict[str, Any]) -> dict[str, Any]:
    return {**results, "created_at": "", "evalgate_version": ""}


def in_copy(case: Path, tmp_path: Path) -> Path:
    folder = tmp_path / case.name
    shutil.copytree(case, folder, ignore=shutil.ignore_patterns("expected"))
    return folder


def arguments_of(case: Path) -> list[str]:
    given = case / "args"
    return given.read_text(encoding="utf-8").splitlines() if given.exists() else ["suite.yaml"]


def refresh(case: Path, ran: CommandResult) -> None:
    """Writes the output files of the command; `exit_code` and `says` stay as they were written by hand."""
    expected = case / "expected"
    text = json.dumps(scrubbed(ran.results), indent=1, ensure_ascii=False)
    (expected / "results.json").write_text(f"{text}\n", encoding="utf-8")
    for name, content in (("comment.md", ran.text("comment.md")), ("stderr", invalid_only(ran))):
        if content:
            (expected / name).write_text(content, encoding="utf-8")


def invalid_only(ran: CommandResult) -> str:
    """Progress and notes may change; reports of invalid input are part of the contract."""
    return ran.stderr if ran.code == 2 else ""


def refresh_baseline(case: Path, folder: Path) -> None:
    evalgate(folder, ["suite.yaml", "--traces", "before/*.json", "--no-baseline-zip"], now=EARLIER)
    shutil.copy(folder / ".evalgate/results.json", case / "baseline.json")
    shutil.copy(case / "baseline.json", folder / "baseline.json")
    shutil.rmtree(folder / ".evalgate")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case, tmp_path):
    folder, expected = in_copy(case, tmp_path), case / "expected"
    if REFRESH and (case / "before").exists():
        refresh_baseline(case, folder)
    ran = evalgate(folder, arguments_of(case))
    if REFRESH:
        refresh(case, ran)

    assert ran.code == int((expected / "exit_code").read_text()), ran.stderr
    assert ran.folder.exists() is (ran.code not in VERDICTS["invalid"])
    assert ran.results["exit_code"] == ran.code
    report_only = ran.results["report_only"]
    assert report_only or ran.code in VERDICTS[ran.results["verdict"]]
    assert "Traceback" not in ran.stderr
    output = ran.stdout + ran.stderr + ran.text("comment.md")
    missing = [line for line in (expected / "says").read_text(encoding="utf-8").splitlines() if line not in output]
    assert missing == []
    assert scrubbed(ran.results) == json.loads((expected / "results.json").read_bytes())
    for name, content in (("comment.md", ran.text("comment.md")), ("stderr", invalid_only(ran))):
        written = expected / name
        assert content == (written.read_text(encoding="utf-8") if written.exists() else "")
